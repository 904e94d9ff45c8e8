// The Search view: what in the store looks like this?
import { h, s, $, $$, t, num, score, segmented, chip, toast, problem, skeleton, bar, drop, langOf, roving, announce } from './core.js';
import * as api from './api.js';

const pairDialog = async (...given) => (await import('./pair.js')).pairDialog(...given);   // with the first pair that is opened

const state = { text: '', name: '', by: 'near', from: .3, where: {}, marked: new Map(), found: null };
export async function render(main, query) {
  const [stats, { queries }] = await Promise.all([api.stats(), api.examples()]);
  const ways = [['near', t('near'), 'minhash'], ['passages', t('bypassages'), 'winnowing'], ['simhash', t('simhash'), 'simhash'], ['meaning', t('bymeaning'), 'vector']].filter(([, , kind]) => stats.settings.kinds.includes(kind)).map(([key, text]) => [key, text]);
  if (query.get('q')) state.text = queries[query.get('q') - 1] || '';
  const results = h('div', { 'aria-live': 'polite' }), filters = h('div.chips', { role: 'group', 'aria-label': t('where') });
  const area = h('textarea', { 'aria-label': t('s_title'), placeholder: t('s_place'), value: state.text, spellcheck: false, oninput: event => { state.text = event.target.value; state.name = ''; } });
  const take = async ([file]) => { try { const found = await api.readFile(file); area.value = state.text = found.text; state.name = found.name; run(); } catch (error) { results.replaceChildren(problem(error)); } };
  const from = h('output', state.from.toFixed(2));
  main.append(h('h1', t('s_title')), h('p.lead', t('s_lead', { n: num(stats.documents) })),
    drop(h('div.query', { onkeydown: event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(); } }, area,
      h('div.row', h('label.link.file', h('input', { type: 'file', class: 'sr', onchange: event => take([...event.target.files]) }), t('choose')), h('button.primary', { onclick: run }, t('search'), h('kbd', 'Ctrl ↵')))), take),
    h('div.controls', segmented(t('method'), ways, state.by, key => { state.by = key; run(); }),
      h('label.row', h('span.soft', t('from')), h('input', { type: 'range', min: .1, max: 1, step: .05, value: state.from, oninput: event => { state.from = +event.target.value; from.textContent = state.from.toFixed(2); }, onchange: () => run() }), from),
      filters),
    results);
  if (state.text) run(); else results.append(empty());

  // The values that matches have, as filters: the service filters, so nothing is missed behind the limit.
  function offer(matches) {
    const values = new Map();
    for (const { meta } of matches) for (const [key, value] of Object.entries(meta || {})) if (['string', 'number', 'boolean'].includes(typeof value)) { if (!values.has(key)) values.set(key, new Map()); values.get(key).set(value, (values.get(key).get(value) || 0) + 1); }
    for (const [key, set] of Object.entries(state.where)) for (const value of set) { if (!values.has(key)) values.set(key, new Map()); if (!values.get(key).has(value)) values.get(key).set(value, 0); }
    const shown = [...values].filter(([, counts]) => counts.size > 1 && counts.size <= 12).slice(0, 4);
    for (const key of Object.keys(state.where)) if (state.where[key].size && !shown.some(([name]) => name === key)) shown.push([key, values.get(key)]);
    filters.replaceChildren(...(shown.length ? [h('span.soft', t('where')), ...shown.flatMap(([key, counts]) => [...counts.keys()].slice(0, 5).map(value => chip(String(value), state.where[key]?.has(value), on => { (state.where[key] ||= new Set())[on ? 'add' : 'delete'](value); run(); }, key)))] : []));
  }
  function empty() {
    return h('div.empty', s('svg', { viewBox: '0 0 60 40', 'aria-hidden': 'true' }, s('rect', { x: 4, y: 6, width: 22, height: 28, rx: 2 }), s('rect', { x: 34, y: 6, width: 22, height: 28, rx: 2 }), s('path', { d: 'M8 14h14M8 20h14M38 14h14M38 20h14M8 26h9M38 26h12' })), h('p', t('e_s')),
      h('div.row', [1, 2, 3].map(n => h('button', { onclick: () => { location.hash = '#/search?q=' + n; } }, t('e_q' + n)))));
  }
  async function run() {
    if (!state.text.trim()) return results.replaceChildren(empty());
    results.replaceChildren(skeleton(7));
    try { state.found = await api.search(state); show(); } catch (error) { results.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }, run)); }
  }
  function show() {
    const { matches: hits, total, notes } = state.found;
    offer(hits);
    const admit = stats.service.writes && h('button', { onclick: add }, t('admit'));
    const said = notes.map(note => h('p.soft.tiny', note));
    if (!hits.length) { announce(t('none')); return results.replaceChildren(h('div.empty', h('p', h('b', t('none'))), h('p.soft', t('none_', { x: state.from.toFixed(2) })), admit), ...said); }
    results.replaceChildren(h('div.result-head', h('p', h('b', t('found', { n: num(total) })), h('span.soft', ` · ${state.found.scale}`)), admit), ...said,
      roving(h('ol.hits', hits.map(row)), '.hit'));
    announce(t('found', { n: total }));
  }
  async function add() {
    const id = state.name || 'doc-' + Date.now().toString(36);
    try { await api.put(id, state.text, {}); toast(t('admitted', { id }), () => api.remove([id]).then(run)); run(); } catch (error) { toast(error.message); }
  }
  function row(hit) {
    const text = hit.text || '', cp = [...text], query = [...state.text], longest = [...hit.passages].sort((a, b) => (b.right[1] - b.right[0]) - (a.right[1] - a.right[0]))[0];
    const open = async () => { try { await pairDialog(`${t('compare')}: ${hit.id}`, { left: state.text, right: text, result: await api.compare({ left: state.text, right: text }), labels: [state.name || t('query'), String(hit.id)] }); } catch (error) { toast(error.message || String(error)); } };
    const pill = h('span.pill', { hidden: !state.marked.has(hit.id) }, t('repostof'));
    // A repost is stored with the name of what it repeats, in its meta; undo removes it again.
    const repost = async () => {
      const id = state.name || 'repost-' + Date.now().toString(36);
      try { await api.put(id, state.text, { repost_of: hit.id }); state.marked.set(hit.id, id); pill.hidden = false; toast(t('reposted', { id: hit.id }), () => api.remove([id]).then(() => { state.marked.delete(hit.id); pill.hidden = true; })); } catch (error) { toast(error.message); }
    };
    const facts = [...Object.entries(hit.meta || {}).filter(([, value]) => typeof value !== 'object').slice(0, 4).map(([, value]) => String(value)), t('chars', { n: num(cp.length) })].join(' · ');
    let snippet = cp.slice(0, 100).join('');
    if (longest) { const [a, b] = longest.right, start = Math.max(0, a - 12), end = Math.min(cp.length, b + 24, start + 150); snippet = [start ? '…' : '', cp.slice(start, a).join(''), h('mark', cp.slice(a, Math.min(b, end)).join('')), cp.slice(b, end).join(''), end < cp.length ? '…' : '']; }
    return h('li.hit', { tabindex: '0', 'aria-label': `${hit.id}, ${score(hit.score)}`, onkeydown: event => { if (event.target !== event.currentTarget) return; if (event.key === 'Enter') { event.preventDefault(); open(); } if (event.key === 'r' && stats.service.writes) repost(); } },
      h('div.score', h('div.value', score(hit.score)), bar(hit.score)),
      h('div', h('h2', String(hit.id), h('span.soft', facts), pill), h('p', { lang: langOf(text), dir: 'auto' }, snippet),
        h('div.cover', { role: 'img', 'aria-label': t('covers'), title: t('covers') }, hit.passages.map(p => h('i', { style: { left: p.left[0] / query.length * 100 + '%', width: (p.left[1] - p.left[0]) / query.length * 100 + '%' } })))),
      h('div.acts', h('button', { onclick: open }, t('open')), stats.service.writes && h('button.quiet', { onclick: repost }, t('repost'))));
  }
}
export const keys = { '/': () => $('.query textarea')?.focus() };
