// Find in both texts: the browser's own search does not see rows that are folded or far from the screen.
import { h, t, num, announce } from './core.js';

const MOST = 9999;                                       // places that are counted
/** Where a word stands in a text, in code points. */
function places(text, cp, wanted) {
  const low = text.toLowerCase(), same = low.length === text.length, where = same ? low : text, what = same ? wanted.toLowerCase() : wanted, out = [];
  const wide = text.length !== cp.length, long = [...what].length;
  for (let at = where.indexOf(what), seen = 0, points = 0; at >= 0 && out.length < MOST; at = where.indexOf(what, at + what.length)) {
    if (wide) { while (seen < at) seen += cp[points++].length; } else points = at;
    out.push([points, points + long]);
  }
  return out;
}
export function finder(view, texts) {
  let found = [], at = -1, last = '';
  const count = h('span.num.soft', { role: 'status' });
  const input = h('input', { type: 'search', placeholder: t('find'), 'aria-label': t('find'), title: `${t('find')} (/)`, oninput: () => look(), onkeydown: event => {
    if (event.key === 'Enter') { event.preventDefault(); step(event.shiftKey ? -1 : 1); }
    if (event.key === 'Escape') { input.value = ''; look(); input.blur(); }
  } });
  function look() {
    const wanted = input.value.trim(); last = wanted; at = -1;
    found = wanted ? [0, 1].flatMap(side => places(texts[side], view.cp[side], wanted).map(([from, to]) => ({ side, from, to, row: view.rowAt(side, from) }))).filter(({ row }) => row >= 0).sort((a, b) => a.row - b.row || a.side - b.side || a.from - b.from) : [];
    count.textContent = wanted ? t('findn', { n: num(found.length) }) : ''; view.found(null);
  }
  function step(by) {
    if (input.value.trim() !== last) look();
    if (!found.length) return announce(t('findn', { n: 0 }));
    at = (at + by + found.length) % found.length + (at < 0 && by < 0 ? 1 : 0); at %= found.length;
    view.found(found[at]); count.textContent = `${num(at + 1)} / ${num(found.length)}`;
  }
  return { el: h('span.find', input, count), focus() { input.focus(); input.select(); }, get active() { return document.activeElement === input; } };
}
