// One pair in a dialog, for the other views.
import { h, t, band, dialog } from './core.js';
import { dial } from './dial.js';
import { diffView, shares } from './diff.js';

export function pairDialog(title, { left, right, result, labels, names, link }) {
  const phone = matchMedia('(max-width: 720px)').matches, pair = diffView({ left, right, result, labels: names || labels, inline: phone, folded: false });
  const el = dialog(title, [h('div.pair-head', dial(result.score, result.threshold, result.verdict), h('div', h('p.verdict', t(band(result.score))), shares(result.edits, [[...left].length, [...right].length]), link && h('p.tiny', h('a', { href: link }, t('keeplink'))))),
    !phone && h('div.heads.pair-names', labels.map(name => h('span', h('b', name)))), pair.el], { wide: true });
  el.addEventListener('keydown', event => { const by = { n: 1, j: 1, p: -1, k: -1 }[event.key]; if (by) { event.stopPropagation(); pair.next(by); } });
  return el;
}
