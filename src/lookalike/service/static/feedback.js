// The Feedback view: how usable were the drafts?
import { h, s, $, t, num, pct, day, drop, skeleton, toast, langOf, roving, announce, problem } from './core.js';
import { KINDS } from './kinds.js';
import { csvRows } from './tables.js';
import * as api from './api.js';

const pairDialog = async (...given) => (await import('./pair.js')).pairDialog(...given);   // with the first pair that is opened

const VERDICTS = [['used as is', 'asis'], ['light edit', 'lightedit'], ['extended', 'extended'], ['heavy edit', 'heavyedit'], ['rewritten', 'rewritten'], ['discarded', 'discarded']];
const word = Object.fromEntries(VERDICTS), state = { filter: {}, shown: 12, data: null };
const usable = row => ['used as is', 'light edit', 'extended'].includes(row.verdict);
function wilson(k, n, z = 1.96) {                        // 95 % interval of a share, sound for few pairs
  if (!n) return [0, 1];
  const p = k / n, d = 1 + z * z / n, mid = (p + z * z / 2 / n) / d, half = z * Math.sqrt(p * (1 - p) / n + z * z / 4 / n / n) / d;
  return [mid - half, mid + half];
}
const weekOf = time => { const d = new Date(time + 'T00:00Z'); d.setUTCDate(d.getUTCDate() - (d.getUTCDay() + 6) % 7); return d.toISOString().slice(0, 10); };
const median = list => { const x = [...list].sort((a, b) => a - b), m = x.length >> 1; return x.length ? x.length % 2 ? x[m] : (x[m - 1] + x[m]) / 2 : 0; };

async function pairsOf(file) {
  const { text } = await api.readFile(file);
  if (/\.(csv|tsv)$/i.test(file.name)) return csvRows(text);
  return text.split('\n').filter(line => line.trim()).map((line, i) => { try { return JSON.parse(line); } catch (error) { throw { code: 'input', message: t('badline', { n: i + 1 }), hint: error.message }; } });
}
async function load(pairs) {
  const found = await api.feedback(await pairs);
  found.rows.forEach((row, i) => { row.id ??= String(i + 1); row.model ??= '–'; row.time = short(row.time); row.week = row.time ? weekOf(row.time) : ''; });
  Object.assign(state, { data: { rows: found.rows, often_removed: found.deleted_passages || [], problems: found.problems || [] }, filter: {} });
}
const short = text => String(text || '').slice(0, 10);
export async function render(main, query) {
  if (query.get('demo') && !state.data) await load(fetch('feedback.json').then(answer => answer.json()));
  if (query.get('verdict')) state.filter = { verdict: query.get('verdict') };
  if (!state.data) {
    const trouble = h('div');
    const show = async pairs => { trouble.replaceChildren(skeleton(6)); try { await load(pairs); main.replaceChildren(); render(main, new URLSearchParams()); } catch (error) { trouble.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error.message || error) })); } };
    const take = ([file]) => show(pairsOf(file));
    return main.append(h('h1', t('b_title')), drop(h('div.empty', h('p', t('b_drop')), h('code.soft', '{"draft": "…", "final": "…", "model": "…", "time": "2026-05-04"}'), h('div.row', h('label.button.file', h('input', { type: 'file', class: 'sr', onchange: event => take([...event.target.files]) }), t('choose')), h('button.primary', { onclick: () => show(fetch('feedback.json').then(answer => answer.json())) }, t('e_load'))), trouble, h('dl.teach', VERDICTS.map(([, key]) => h('div', h('dt', t(key)), h('dd.soft', t(key + '_')))))), take));
  }
  const { data } = state;
  const head = h('div.title'), plots = h('div.plots'), list = h('section', { 'aria-label': t('pairs') }), phrases = h('section');
  main.append(head, plots, list, phrases);
  const pass = (row, except) => Object.entries(state.filter).every(([key, value]) => key === except || row[key] === value);
  // With a verdict chosen, the plots show its share in the place of the usable share.
  const counts = row => state.filter.verdict ? row.verdict === state.filter.verdict : usable(row), what = () => t(state.filter.verdict ? word[state.filter.verdict] : 'usable');
  const toggle = (key, value) => { if (state.filter[key] === value) delete state.filter[key]; else state.filter[key] = value; state.shown = 12; draw(); };
  let focus = null;
  function draw() {
    const rows = data.rows.filter(row => pass(row)), base = data.rows.filter(row => pass(row, 'verdict')), good = base.filter(counts).length, ci = wilson(good, base.length);
    head.replaceChildren(h('div', h('h1', t('b_title')), h('p.lead', t('b_lead', { n: num(rows.length) }))),
      h('dl.kpis', h('div', h('dt', pct(good / (base.length || 1), 0)), h('dd', `${what()} · ${pct(ci[0], 0)}–${pct(ci[1], 0)}`)), h('div', h('dt', pct(median(rows.map(row => row.edit_share)), 0)), h('dd', t('median')))));
    plots.replaceChildren(verdicts(), models(), ...(data.rows.some(row => row.week) ? [trend()] : [])); table(rows); oftenRemoved();
    if (focus) { $(`[data-key="${focus}"]`, main)?.focus({ preventScroll: true }); focus = null; announce(t('b_lead', { n: rows.length })); }
  }
  const brush = (key, value) => ({ type: 'button', data: { key: key + value }, 'aria-pressed': String(state.filter[key] === value), onclick: () => { focus = key + value; toggle(key, value); } });
  function verdicts() {
    const rows = data.rows.filter(row => pass(row, 'verdict')), most = Math.max(...VERDICTS.map(([v]) => rows.filter(row => row.verdict === v).length), 1);
    return h('section', h('h2', t('verdicts')), VERDICTS.map(([v, key], i) => { const n = rows.filter(row => row.verdict === v).length; return h('button', { class: 'vrow' + (i < 3 ? ' good' : ''), title: t(key + '_'), ...brush('verdict', v) }, h('span', t(key)), h('span.track', h('i', { style: { width: pct(n / most) } })), h('span.num', num(n), ' ', h('small', pct(n / (rows.length || 1), 0)))); }));
  }
  function models() {
    const rows = data.rows.filter(row => Object.entries(state.filter).every(([key, value]) => key !== 'week' || row.week === value));
    const each = [...new Set(data.rows.map(row => row.model))].map(model => { const own = rows.filter(row => row.model === model), k = own.filter(counts).length; return { model, n: own.length, p: k / (own.length || 1), ci: wilson(k, own.length) }; }).sort((a, b) => b.p - a.p);
    return h('section.dots', h('h2', t('bymodel', { what: what() }), h('span.soft', t('ci'))), each.map(({ model, n, p, ci }) => h('button.vrow', { 'aria-label': `${model}: ${pct(p, 0)}, ${pct(ci[0], 0)}–${pct(ci[1], 0)}, ${n}`, ...brush('model', model) }, h('span', model), h('span.ci', h('i', { style: { left: pct(ci[0]), width: pct(ci[1] - ci[0]) } }), h('b', { style: { left: pct(p) } })), h('span.num', pct(p, 0), ' ', h('small', 'n ' + n)))),
      h('div.vrow.axis.tiny.soft', { 'aria-hidden': 'true' }, h('span'), h('span.row', { style: { 'justify-content': 'space-between', gap: '0' } }, h('span', '0'), h('span', '50%'), h('span', '100%')), h('span')));
  }
  function trend() {
    const rows = data.rows.filter(row => !state.filter.model || row.model === state.filter.model), weeks = [...new Set(data.rows.map(row => row.week))].filter(Boolean).sort();
    const W = 420, H = 180, L = 34, x = i => L + (i + .5) * (W - L) / weeks.length, y = p => 8 + (1 - p) * 118, step = (W - L) / weeks.length;
    const points = weeks.map((week, i) => { const own = rows.filter(row => row.week === week), k = own.filter(counts).length; return { week, i, n: own.length, p: k / own.length, ci: wilson(k, own.length) }; }), has = points.filter(p => p.n), top = Math.max(...points.map(p => p.n), 1);
    const line = list => list.map((p, k) => `${k ? 'L' : 'M'}${x(p.i).toFixed(1)} ${y(p.p).toFixed(1)}`).join('');
    const band = has.length ? 'M' + has.map(p => `${x(p.i).toFixed(1)} ${y(p.ci[1]).toFixed(1)}`).join('L') + 'L' + [...has].reverse().map(p => `${x(p.i).toFixed(1)} ${y(p.ci[0]).toFixed(1)}`).join('L') + 'Z' : '';
    return h('section', h('h2', t('overtime', { what: what() }), h('span.soft', '95 %')), s('svg.trend', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': t('overtime', { what: what() }) },
      [0, .5, 1].map(p => [s('line.grid', { x1: L, x2: W, y1: y(p), y2: y(p) }), s('text', { x: L - 6, y: y(p) + 4, 'text-anchor': 'end' }, pct(p, 0))]), s('path.band', { d: band }), s('path.line', { d: line(has) }),
      points.map(p => { const { type, data: keep, ...rest } = brush('week', p.week); return s('g', { ...rest, data: keep, role: 'button', tabindex: '0', 'aria-label': `${p.week}: ${p.n ? pct(p.p, 0) : '–'}, ${p.n}`, onkeydown: event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); rest.onclick(); } } }, s('rect.hit-area', { x: x(p.i) - step / 2, y: 4, width: step, height: H - 24, rx: 3 }), s('rect.vol', { x: x(p.i) - step * .3, y: 160 - p.n / top * 26, width: step * .6, height: p.n / top * 26 }), p.n > 0 && s('circle', { cx: x(p.i), cy: y(p.p), r: 4 }), p.i % 3 === 0 && s('text', { x: x(p.i), y: H - 4, 'text-anchor': 'middle' }, day(p.week))); })));
  }
  const mini = row => { const e = row; if (row.kept == null) return h('span.stack', h('i.p.deleted', { style: { 'flex-grow': 1 } })); return h('span.stack', { role: 'img', 'aria-label': KINDS.map(k => `${t(k)} ${pct(e[k], 0)}`).join(', ') }, KINDS.filter(k => e[k] > 0).map(k => h('i', { class: 'p ' + k, style: { 'flex-grow': e[k].toFixed(4) } }))); };
  const openRow = async row => { if (!String(row.final || '').trim()) return toast(t('emptyfinal')); try { await pairDialog(`${row.id} · ${row.model} · ${t(word[row.verdict])}`, { left: row.draft, right: row.final, result: await api.compare({ left: row.draft, right: row.final }), labels: [t('draft'), t('final')] }); } catch (error) { toast(error.message || String(error)); } };
  function table(rows) {
    const sorted = [...rows].sort((a, b) => state.filter.verdict ? b.edit_share - a.edit_share : b.time < a.time ? -1 : b.time > a.time ? 1 : 0);   // newest first; of one verdict the most edited first
    list.replaceChildren(h('div.filters', h('h2', Object.keys(state.filter).length ? t('pairs') : t('all')), h('span.soft.num', num(rows.length)), Object.entries(state.filter).map(([key, value]) => h('button.chip', { 'aria-pressed': 'true', 'aria-label': `${t('clearf')}: ${value}`, onclick: () => toggle(key, value) }, key === 'verdict' ? t(word[value]) : key === 'week' ? day(value) : value, ' ×'))),
      h('table.list', h('thead', h('tr', ['pair', 'verdict', 'editshare', '', 'draft', 'model', 'editor', 'date'].map((key, i) => key ? h('th', { scope: 'col', class: i === 2 ? 'num' : i > 4 ? 'hide' : null }, t(key)) : h('td')))),
        roving(h('tbody', sorted.slice(0, state.shown).map(row => h('tr', { tabindex: '0', onclick: () => openRow(row), onkeydown: event => { if (event.key === 'Enter') { event.preventDefault(); openRow(row); } } }, h('td.nowrap', row.id), h('td.nowrap', t(word[row.verdict])), h('td.num', pct(row.edit_share, 0)), h('td', mini(row)), h('td.text', { lang: langOf(row.draft) }, row.draft.slice(0, 160)), h('td.hide.nowrap', row.model), h('td.hide.nowrap', row.author || '–'), h('td.hide.num', row.time ? day(row.time) : '–')))), 'tr')),
      sorted.length > state.shown && h('p.row', { style: { padding: '.75rem 0' } }, h('button', { onclick: () => { state.shown += 50; table(rows); } }, t('more', { n: Math.min(50, sorted.length - state.shown) }))));
  }
  function oftenRemoved() { phrases.replaceChildren(h('h2', t('often')), h('ol.phrases', data.often_removed.slice(0, 9).map(p => h('li', h('del', { lang: langOf(p.text) }, p.text), h('span.soft.num', t('times', { n: p.count })))))); }
  keys.Escape = () => { state.filter = {}; draw(); };
  draw();
}
export const keys = {};
