// The answer of a comparison: the score, what it means, the shares, and the two things side by side.
import { h, $, $$, t, num, pct, score, band, segmented, chip, toast, save, langOf, roving } from './core.js';
import { dial } from './dial.js';
import { diffView, shares } from './diff.js';
import { finder } from './find.js';
import { minimap } from './minimap.js';
import { judge, keys, state } from './compare.js';
import * as api from './api.js';

const FORMS = ['markup', 'quotes', 'width', 'script', 'numerals', 'accents'];
let view = null, find = null;                            // the diff on the screen, and its search

export function answer(main) {
  Object.assign(keys, own); view = find = null;
  const { found } = state, { result } = found;
  const isText = !!result.segments;
  const now = current();
  const sizes = [[...state.left].length, [...state.right].length];
  const word = state.as === 'page' ? 'page_' : state.as === 'record' ? 'record_' : band(now.score) + '_';
  const facts = isText && h('dl.facts', h('div', h('dt', pct(result.containment.left)), h('dd', t('inB'))), h('div', h('dt', pct(result.containment.right)), h('dd', t('inA'))));
  const tagCounts = state.as === 'page' && result.tag_rows.reduce((sum, part) => { for (const k of ['equal', 'changed', 'gone', 'new']) sum[k] = (sum[k] || 0) + part.counts[k]; sum.left = (sum.left || 0) + part.counts.left; sum.right = (sum.right || 0) + part.counts.right; return sum; }, {});
  const edits = isText ? now.edits : tagCounts ? { kept: tagCounts.equal / tagCounts.left, moved: 0, reworded: tagCounts.changed / tagCounts.left, deleted: tagCounts.gone / tagCounts.left, inserted: tagCounts.new / tagCounts.right } : null;
  main.append(
    h('div.bar-top',
      h('h1.names', h('span.name', { title: state.names[0] }, h('b.ab', 'A'), state.names[0]), h('button.icon', { onclick: swap, 'aria-label': t('swap'), title: t('swap') + ' (x)' }, '⇄'), h('span.name', { title: state.names[1] }, h('b.ab', 'B'), state.names[1])),
      h('div.row', segmented(t('as'), [['text', t('text')], ['code', t('code')], ['page', t('page')], ['record', t('record')]], state.as, key => { const was = state.as; again(() => { state.as = key; state.method = 'all'; }, () => state.as = was); }),
        h('a.button', { href: '#/compare?new', onclick: () => { state.sample = null; } }, t('edit')), h('button', { onclick: report }, t('download')))),
    h('section.summary', { 'aria-label': t('similarity') }, dial(now.score, result.threshold, state.method === 'all' ? result.verdict : ''),
      h('div.meaning', h('p.verdict', state.as === 'page' || state.as === 'record' ? t(state.as + (now.score >= result.threshold ? '_yes' : '_no')) : t(band(now.score))), h('p.soft', t(word), state.as === 'page' && ' ' + extremes(result.measures)), (result.notes || []).map(note => h('p.soft.tiny', note)), edits && shares(edits, tagCounts ? [tagCounts.left, tagCounts.right] : sizes, isText && (kind => { view.only(kind); count(-1); if (kind) view.next(1); }))), facts),
    h('div.options',
      state.as !== 'record' && h('label.row', h('span.soft', t('method')), h('select', { onchange: event => { state.method = event.target.value; redo(); } },
        ['blend', ...Object.keys(result.measures || {}).filter(name => result.measures[name] != null)].map(name => h('option', { value: name === 'blend' ? 'all' : name, selected: state.method === name }, t('m_' + name).replace(/^m_/, ''))))),
      isText && h('div.chips', { role: 'group', 'aria-label': t('forms') }, h('span.soft', t('forms')), ['case', 'space'].map(name => h('span.chip.fixed', { title: t('always') }, t('f_' + name))),
        FORMS.map(name => chip(t('f_' + name), state.ignore.includes(name), on => { const was = state.ignore; again(() => state.ignore = on ? [...was, name] : was.filter(x => x !== name), () => state.ignore = was); }, t('x_' + name))))));
  if (isText) { const text = textView(result); $('.options', main).append(find.el); main.append(text); } else main.append(state.as === 'page' ? pageView(result) : recordView(result));
}
// Where two pages agree and differ most, in a sentence.
function extremes(measures) {
  const order = Object.entries(measures).filter(([, value]) => value != null).sort((a, b) => b[1] - a[1]), [hi, lo] = [order[0], order.at(-1)];
  return t('page_most', { a: t('m_' + hi[0]), x: score(hi[1]), b: t('m_' + lo[0]), y: score(lo[1]) });
}
// The score by the chosen measure; what does not count was asked of the service.
function current() {
  const { result } = state.found;
  return { score: state.method === 'all' ? result.score : result.measures[state.method] ?? 0, edits: result.edits };
}
function redo() { const y = scrollY, id = document.activeElement?.textContent; const main = $('#main'); main.replaceChildren(); answer(main); scrollTo(0, y); $$('button.chip, select', main).find(x => x.textContent === id)?.focus({ preventScroll: true }); }
// Something was chosen that the service has to compute again.
async function again(change, back) {
  change();
  try { await judge(); redo(); } catch (error) { back(); toast(error.message || String(error)); redo(); }
}

let counter;
function count(i) { if (counter) counter.textContent = i >= 0 ? `${i + 1} / ${view.count}` : t('changes', { n: view.count }); }
function textView(result) {
  const code = state.as === 'code', phone = matchMedia('(max-width: 720px)').matches;
  view = diffView({ left: state.left, right: state.right, result, code, labels: state.names, inline: state.inline ?? phone, folded: state.folded });
  counter = h('span.num.count'); count(-1); find = finder(view, [state.left, state.right]);
  view.el.addEventListener('change-at', event => count(event.detail));
  const passages = [...result.passages].sort((a, b) => (b.left[1] - b.left[0]) - (a.left[1] - a.left[0]));
  const step = (label, sign, by, key) => h('button.icon', { 'aria-label': label, title: `${label} (${key})`, onclick: () => view.next(by) }, sign);
  const sizes = [0, 1].map(side => t('chars', { n: num(view.cp[side].length) }));
  const side = h('div.side',
    passages.length > 0 && h('section', h('h2', t('passages'), h('span.soft', num(passages.length))), h('p.soft.tiny', t('passages_')),
      roving(h('ol.passages', passages.map((p, i) => h('li', h('button', { onclick: () => view.passage(p) }, h('span.num.len', num(p.left[1] - p.left[0])), h('span.quote', { lang: langOf(state.left) }, view.cp[0].slice(p.left[0], Math.min(p.left[1], p.left[0] + 90)).join('').trim()))))), 'button')),
    measures(result),
    h('details', h('summary', t('made')), h('p.tiny.soft', Object.entries(result.signature || {}).map(([k, v]) => `${k} ${v}`).join(' · '))));
  return h('div', { class: 'work' + (code ? ' is-code' : '') },
    h('section.paper', { 'aria-label': t('side') },
      h('div.paper-head', h('div.heads', h('span', h('b.ab', 'A'), ' ', sizes[0]), h('span', h('b.ab', 'B'), ' ', sizes[1])),
        h('div.walk', step(t('prev'), '↑', -1, 'p'), step(t('next'), '↓', 1, 'n'), counter,
          h('button.icon', { 'aria-pressed': String(view.state.inline), 'aria-label': t('inline'), title: t('inline') + ' (i)', onclick: event => toggle('inline', event.currentTarget) }, '☰'),
          h('button.icon', { 'aria-pressed': String(view.state.folded), 'aria-label': t('fold'), title: t('fold') + ' (u)', onclick: event => toggle('folded', event.currentTarget) }, '⋯'))),
      view.el),
    minimap(view), side);
}
function toggle(key, button) {
  view.set(key, !view.state[key]); state[key] = view.state[key];
  (button || $(`.walk [aria-label="${t(key === 'inline' ? 'inline' : 'fold')}"]`))?.setAttribute('aria-pressed', String(view.state[key]));
}
const measures = result => result.measures && Object.keys(result.measures).length > 0 && h('details.measures', { open: !result.segments }, h('summary', t('measures')),
  h('table', h('tbody', Object.entries(result.measures).map(([name, value]) => h('tr', h('th', { scope: 'row' }, t('m_' + name).replace(/^m_/, '')), h('td', value != null && bar(value)), h('td.num', value == null ? '–' : value.toFixed(3)))))));
const bar = value => h('span.bar', { 'aria-hidden': 'true' }, h('i', { style: { width: pct(Math.max(0, value)) } }));

// ---- web pages: the tags of both, paired
function pageView(result) {
  const tag = (el, other) => {
    if (!el) return [];
    const [name, attrs, string, depth] = el, was = other && other[1] || {};
    const pad = h('span.in', { style: { width: Math.max(0, depth - 1) * .85 + 'rem' } });
    if (name === '#text') return [pad, h('q', { class: other && other[2] !== string ? 'm reworded' : null }, string)];
    return [pad, h('span', { class: 'tag' + (other && other[0] !== name ? ' m reworded' : '') }, name), Object.entries(attrs).map(([key, value]) => h('span.attr', ' ', key, '=', h('span', { class: other && was[key] !== value ? 'm reworded' : null }, `"${value}"`)))];
  };
  const table = h('tbody');
  const same = ([l, r]) => l && r && JSON.stringify(l.slice(0, 3)) === JSON.stringify(r.slice(0, 3));
  const line = ([l, r]) => h('tr', { class: !l || !r || !same([l, r]) ? 'changed' : null }, h('td.n'), h('td', { class: l ? r ? null : 'all deleted' : 'void' }, tag(l, r)), h('td.n'), h('td', { class: r ? l ? null : 'all inserted' : 'void' }, tag(r, l)));
  for (const part of result.tag_rows) {
    table.append(h('tr.part', h('td', { colspan: '4' }, h('b', `<${part.part}>`), ' ', h('span.soft.num', `${score(part.counts.score)} · ${t('equal')} ${part.counts.equal} · ${t('reworded')} ${part.counts.changed} · ${t('deleted')} ${part.counts.gone} · ${t('inserted')} ${part.counts.new}`))));
    for (let i = 0; i < part.rows.length; i++) {
      let end = i; while (end < part.rows.length && same(part.rows[end])) end++;
      if (end - i >= 4) { const hidden = part.rows.slice(i, end), tr = h('tr.fold', h('td', { colspan: '4' }, h('button', { onclick: () => tr.replaceWith(...hidden.map(line)) }, '⋯', t('unchanged_t', { n: end - i })))); table.append(tr); i = end - 1; }
      else table.append(line(part.rows[i]));
    }
  }
  view = null;
  return h('div.work.flat', h('section.paper', h('div.paper-head', h('div.heads', state.names.map((name, i) => h('span', h('b.ab', 'AB'[i]), ' ', name)))), h('table.diff.code.tags', h('colgroup', h('col.n'), h('col'), h('col.n'), h('col')), table)), h('div.side', measures(result)));
}
// ---- records: part by part
function recordView(result) {
  const [a, b] = [state.left, state.right].map(x => JSON.parse(x));
  const show = (value, other) => Array.isArray(value) ? value.map((x, i) => [i ? '、' : '', h('span', { class: (other || []).includes(x) ? null : 'm reworded' }, x)]) : value && typeof value === 'object' ? Object.entries(value).map(([k, v]) => h('div', h('span.soft', k + ' '), show(v, (other || {})[k]))) : h('span', { class: String(value).toLowerCase() === String(other).toLowerCase() ? null : 'm reworded' }, String(value));
  view = null;
  return h('div.work.flat', h('section.paper', h('table.fields', h('thead', h('tr', h('th', t('field')), h('th', h('b.ab', 'A')), h('th', h('b.ab', 'B')), h('th', { colspan: '2' }, t('similarity')))),
    h('tbody', Object.keys(result.parts).map(key => h('tr', h('th', { scope: 'row' }, key), h('td', { lang: 'zh-CN' }, show(a[key], b[key])), h('td', { lang: 'zh-CN' }, show(b[key], a[key])), h('td', bar(result.parts[key].similarity)), h('td.num', result.parts[key].similarity.toFixed(3))))))));
}

function swap(quiet) {
  const flip = () => { [state.left, state.right] = [state.right, state.left]; state.names = [...state.names].reverse(); };
  again(flip, flip); if (quiet !== true) toast(t('swapped'), () => swap(true));
}
async function report() {
  try { save('comparison.html', await api.reportOf(state)); } catch (error) { toast(error.message || String(error)); }
}
const own = { n: () => view?.next(1), j: () => view?.next(1), p: () => view?.next(-1), k: () => view?.next(-1), x: () => state.found && $('.names') && swap(), i: () => view && toggle('inline'), u: () => view && toggle('folded'), '/': () => find?.focus() };
for (const n of [1, 2, 3, 4]) own[n] = () => $$('.legend .key')[n]?.click();
// Where not every row is drawn, the search of the page is the one that finds; asked for again, the browser's own comes.
addEventListener('keydown', event => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f' && view?.large && view.el.isConnected && !find.active) { event.preventDefault(); find.focus(); }
});
