// All against all: which documents share passages, as a matrix and as a ranked list.
import { h, t, num, score, segmented, chip, problem, skeleton, bar, roving, save, settings, langOf, announce } from './core.js';
import * as api from './api.js';

const state = { as: 'text', out: [], at: .25, hidden: false, order: 'like', numbers: new Map() };
const WIDE = 40;                                         // documents in the matrix; the list has all pairs
const LISTED = 50;                                       // pairs that are listed at a time
// How much accent a cell gets. The step at 0.6 keeps the number readable on either side (4.5:1).
const shade = x => Math.round(x < .6 ? Math.max(0, x - .08) * 76 : Math.min(100, x * 135)) + '%';
const keyOf = id => JSON.stringify(id);                  // 7 and "7" are two documents

export async function matrix(main, beside) {
  const body = h('div', skeleton(8)), part = value => chip(t('lo_' + value), state.out.includes(value), on => { state.out = on ? [...state.out, value] : state.out.filter(each => each !== value); load(); });
  main.append(h('div.controls', segmented(t('as'), [['text', t('text')], ['code', t('code')]], state.as, key => { state.as = key; load(); }),
    h('div.chips', { role: 'group', 'aria-label': t('forms') }, h('span.soft', t('forms')), part('quotes'), part('references'))), body);
  let round = 0;
  const asked = () => ({ as: state.as, leave_out: state.out });
  async function load() {
    const mine = ++round; body.replaceChildren(skeleton(8));
    try { const found = await api.pairs({ ...asked(), passages: false }); if (mine === round) { body.replaceChildren(); show(body, found, beside, asked); } }
    catch (error) { if (mine === round) body.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }, load)); }
  }
  await load();
}

function show(main, { documents, pairs, total, common, notes }, beside, asked) {
  const said = notes.map(note => h('p.soft.tiny', note));
  if (!pairs.length) { announce(t('e_pairs')); return main.append(h('div.empty', h('p', h('b', t('e_pairs'))), h('p.soft', t('e_pairs_'))), ...said); }
  const cells = new Map();                               // scores by both ids
  for (const { left, right, score: x } of pairs) for (const [a, b] of [[left, right], [right, left]]) { if (!cells.has(keyOf(a))) cells.set(keyOf(a), new Map()); cells.get(keyOf(a)).set(keyOf(b), x); }
  const between = (a, b) => cells.get(keyOf(a))?.get(keyOf(b)) ?? 0;
  // Those of the best pairs come first; where all fit, those without a pair too.
  const inPairs = [...new Map(pairs.flatMap(({ left, right }) => [left, right]).map(id => [keyOf(id), id])).values()];
  const ids = documents.length <= WIDE ? documents : inPairs.slice(0, WIDE);
  // A number instead of a name says nothing of the order in which documents came.
  const drawn = documents.filter(id => !state.numbers.has(keyOf(id))).map(id => [Math.random(), id]).sort((a, b) => a[0] - b[0]);
  for (const [, id] of drawn) state.numbers.set(keyOf(id), state.numbers.size + 1);
  const name = id => state.hidden ? `${t('id')} ${String(state.numbers.get(keyOf(id))).padStart(2, '0')}` : String(id);
  const open = (a, b) => beside(a, b, state.hidden ? [name(a), name(b)] : null);
  const box = h('div.matrix', { tabindex: '-1' }), ranked = h('ol.ranked'), line = h('p.soft', { 'aria-live': 'polite' }), rest = h('p.row');
  let listed = LISTED;
  function ordered() {
    if (state.order === 'name') return [...ids].sort((a, b) => name(a).localeCompare(name(b), settings.lang === 'zh' ? 'zh-CN' : 'en', { numeric: true }));
    const left = new Map(ids.map(id => [keyOf(id), id])), order = [];      // the closest pair first, then always the one nearest to the last
    const take = id => { order.push(id); left.delete(keyOf(id)); };
    take(inPairs.find(id => left.has(keyOf(id))));
    while (left.size) { let best = null; for (const id of left.values()) if (best === null || between(order.at(-1), id) > between(order.at(-1), best)) best = id; take(best); }
    return order;
  }
  function cell(a, b, first) {
    if (a === b) return h('td.self');
    const x = between(a, b);
    return h('td', h('button', { class: [x >= .6 && 'strong', x >= state.at && 'hit-on'].filter(Boolean).join(' ') || null, tabindex: first ? '0' : '-1', style: { '--w': shade(x) }, 'aria-label': `${name(a)}, ${name(b)}: ${score(x)}`, title: `${name(a)} · ${name(b)}: ${score(x)}`, onclick: () => open(a, b) }, x >= .15 ? x >= .995 ? '1.0' : x.toFixed(2).slice(1) : ''));
  }
  function draw() {
    const order = ordered(), lang = id => langOf(name(id));
    box.replaceChildren(h('table', h('thead', h('tr', h('td'), order.map(id => h('th', { scope: 'col', lang: lang(id), title: name(id) }, h('span', name(id)))))),
      h('tbody', order.map((a, r) => h('tr', h('th', { scope: 'row', lang: lang(a), title: name(a) }, h('span', name(a))), order.map((b, c) => cell(a, b, r === 0 && c === 1)))))));
    line.textContent = [t('matrix_', { n: num(documents.length), p: num(total), k: num(pairs.filter(pair => pair.score >= state.at).length) }), ids.length < documents.length ? t('matrix_some', { n: num(ids.length) }) : ''].filter(Boolean).join(' ');
    list();
  }
  function list() {
    ranked.replaceChildren(...pairs.slice(0, listed).map(({ left, right, score: x }) => h('li', h('button', { class: x >= state.at ? 'on' : null, onclick: () => open(left, right) }, h('span', { dir: 'auto' }, `${name(left)} · ${name(right)}`), bar(x), h('span.num', score(x))))));
    rest.replaceChildren(...listed < pairs.length ? [h('button', { onclick: () => { listed += LISTED; list(); } }, t('more', { n: num(Math.min(LISTED, pairs.length - listed)) }))] : []);
  }
  box.addEventListener('keydown', event => {              // arrows move in the grid
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key], td = event.target.closest('td');
    if (!step || !td) return;
    const rows = td.parentNode.parentNode.rows; let r = td.parentNode.sectionRowIndex, c = td.cellIndex;
    do { r += step[0]; c += step[1]; } while (rows[r]?.cells[c]?.classList.contains('self'));
    const to = rows[r]?.cells[c]?.querySelector('button');
    if (to) { event.preventDefault(); event.target.tabIndex = -1; to.tabIndex = 0; to.focus(); }
  });
  const out = h('output', state.at.toFixed(2));
  const download = async () => { try { save('pairs.html', await api.pairsReport({ ...asked(), anonymous: state.hidden })); } catch (error) { said.push(problem(error)); main.append(said.at(-1)); } };
  main.append(h('div.controls', line, segmented(t('sortby'), [['like', t('bylike')], ['name', t('byname')]], state.order, key => { state.order = key; draw(); }),
    h('label.row', h('span.soft', t('threshold')), h('input', { type: 'range', min: .05, max: 1, step: .05, value: state.at, oninput: event => { state.at = +event.target.value; out.textContent = state.at.toFixed(2); draw(); } }), out),
    h('label.row', h('input', { type: 'checkbox', checked: state.hidden, onchange: event => { state.hidden = event.target.checked; draw(); } }), t('anonymise')), h('button', { onclick: download }, t('download'))),
    h('div.explore.fit', box, h('div', h('h2', t('pairs')), h('p.soft.tiny', t('highest')), roving(ranked, 'button'), rest, ...said,
      common.length > 0 && h('details', h('summary', t('common', { n: num(common.length) })), h('ul.common', common.map(each => h('li', { dir: 'auto', lang: langOf(each.text) }, h('span.num.soft', num(each.documents)), ' ', each.text)))))));
  draw();
}
