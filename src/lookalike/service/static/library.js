// The Library view: documents, clusters of those that look alike, and all against all.
import { h, s, t, num, score, segmented, toast, bar, drop, langOf, roving, announce, problem, skeleton } from './core.js';
import { pairDialog } from './pair.js';
import { csvRows, droppedFiles, linesOf } from './tables.js';
import { windowed } from './window.js';
import * as api from './api.js';

const state = { threshold: .8, picked: null, filter: '' };
const PAGE = 200;                                        // documents that are fetched at a time
const facts = doc => [...Object.values(doc.meta || {}).filter(value => typeof value !== 'object').slice(0, 3).map(String), t('chars', { n: num(doc.characters ?? [...(doc.text || '')].length) })].join(' · ');

export async function render(main, query, [tab = 'documents']) {
  const title = h('div.title', h('h1', t('library')), segmented(t('library'), [['documents', t('documents')], ['clusters', t('clusters')], ['matrix', t('matrix')]], tab, key => location.hash = '#/library/' + key));
  main.append(title);
  const body = h('div', skeleton(8)); main.append(body);
  try {
    const stats = await api.stats();
    body.replaceChildren();
    if (tab === 'matrix') await (await import('./matrix.js')).matrix(body, beside);
    else await (tab === 'clusters' ? clusters : documents)(body, stats, query);
  } catch (error) { body.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }, () => { main.replaceChildren(); render(main, query, [tab]); })); }
}

// Both in one dialog; either side may have gone meanwhile. ``names``: what they are called where their ids are hidden.
async function beside(a, b, names = null) {
  try {
    const [left, right] = await Promise.all([api.get(a), api.get(b)]);
    const result = await api.compare({ left: left.text || '', right: right.text || '' });
    const labels = names || [String(a), String(b)];
    pairDialog(labels.join(' · '), { left: left.text || '', right: right.text || '', result, labels, link: names ? null : api.pairLink(a, b) });
  } catch (error) { toast(error.message || String(error)); }
}
// Removed at once, and put back as it was by undo.
async function remove(ids, after) {
  try {
    const kept = (await api.each(ids, id => api.get(id).catch(error => { if (error.status !== 404) throw error; }))).filter(Boolean);   // another tab may have been first
    for (let from = 0; from < ids.length; from += 5000) await api.remove(ids.slice(from, from + 5000));
    after();
    toast(t('removed', { n: num(kept.length) }), kept.length > 0 && (async () => { try { await api.upload(kept.map(({ id, text, meta }) => lineOf({ id, text, meta })).join(''), () => {}); after(); } catch (error) { toast(error.message || String(error)); } }));
  } catch (error) { toast(error.message || String(error)); after(); }
}

// ---- documents
async function documents(main, stats) {
  const chosen = new Set(), head = h('thead', h('tr', h('th', { scope: 'col' }, t('id')), h('th', { scope: 'col' }, t('text')), h('th.hide', { scope: 'col' }, t('facts')))), table = h('table.list.long', head), note = h('span.soft.num'), writes = stats.service.writes;
  const drop_ = h('button', { disabled: true, onclick: () => { const ids = [...chosen]; chosen.clear(); remove(ids, restart); } }, t('remove'));
  const pair = h('button', { disabled: true, onclick: () => beside(...chosen) }, t('open'));
  let next = null, shown = 0, total = stats.documents, loading = false, round = 0, rows = null;
  const more = h('button', { onclick: () => load() }, t('more', { n: PAGE }));
  const status = () => { note.textContent = chosen.size ? t('selected', { n: chosen.size }) : t('showing', { n: num(shown), all: num(total) }); drop_.disabled = !chosen.size || !writes; pair.disabled = chosen.size !== 2; };
  const row = doc => h('tr', h('td', h('label.row', h('input', { type: 'checkbox', checked: chosen.has(doc.id), 'aria-label': String(doc.id), onchange: event => { chosen[event.target.checked ? 'add' : 'delete'](doc.id); status(); } }), String(doc.id))), h('td.text', { lang: langOf(doc.text || ''), dir: 'auto' }, (doc.text || '').slice(0, 160)), h('td.hide.soft', facts(doc)));
  async function load() {
    if (loading) return;
    loading = true; const mine = round;
    try {
      const page = await api.documents(next, state.filter, PAGE);
      if (mine !== round) return;
      next = page.next; total = page.total; shown += page.documents.length; table.append(...rows.add(page.documents)); more.hidden = !next; status();
      requestAnimationFrame(near);                       // its end may still be on the screen, and then nothing else says so
      if (!shown && !next) table.append(h('tbody', h('tr', h('td', { colspan: '3' }, h('p.empty', t(state.filter ? 'nofilter' : 'e_lib'))))));
    } catch (error) { toast(error.message || String(error)); more.hidden = false; } finally { if (mine === round) loading = false; }
  }
  const near = () => { if (next && !loading && more.isConnected && more.getBoundingClientRect().top < innerHeight + 600) load(); };
  async function restart() { round++; loading = false; next = null; shown = 0; rows?.stop(); rows = windowed(row, () => 34, { columns: 2 }); table.replaceChildren(head); chosen.clear(); await load(); }
  let timer = 0;
  main.append(writes ? uploader(restart) : h('p.soft', t('readonly')),
    h('div.controls', h('input', { type: 'search', placeholder: t('filter'), 'aria-label': t('filter'), value: state.filter, oninput: event => { state.filter = event.target.value; clearTimeout(timer); timer = setTimeout(restart, 250); } }), note, pair, drop_),
    table, h('p.row', more));
  new IntersectionObserver(near, { rootMargin: '600px' }).observe(more);
  await restart();
}

const lineOf = doc => JSON.stringify(doc) + '\n';
const LISTED = 500;                                      // lines of an upload whose status is shown
function uploader(done) {
  const lines = h('ol.lines', { hidden: true, tabindex: '0', 'aria-label': t('upload') }), meter = h('progress', { max: 1, value: 0, hidden: true, 'aria-label': t('upload') }), note = h('span.soft', { role: 'status' }, t('dropfiles'));
  async function start(files) {
    const count = { added: 0, updated: 0, skipped: 0 };
    lines.replaceChildren(); lines.hidden = meter.hidden = false;
    const say = ({ line, status, id, message }) => {
      count[status]++;
      if (lines.childElementCount === LISTED) lines.append(h('li', h('span'), h('span'), h('span.soft', t('morelines'))));
      if (lines.childElementCount >= LISTED || status !== 'skipped' && lines.childElementCount >= LISTED / 2) return;
      lines.append(h('li', h('span.num.soft', line == null ? '' : num(line)), h('span', { class: status }, t(status)), h('span.soft', message || String(id ?? '')))); lines.scrollTop = 1e6;
    };
    for (const [at, file] of files.entries()) {
      const part = share => meter.value = (at + share) / files.length;
      note.textContent = t('uploading', { name: file.name }); part(0);
      try { await sendFile(file, say, part); } catch (error) { say({ status: 'skipped', id: file.name, message: `${file.name}: ${error.message || error}` }); }
    }
    meter.value = 1; note.textContent = t('done', { a: num(count.added), u: num(count.updated), s: num(count.skipped) }); announce(note.textContent); done();
  }
  const example = async () => { const { queries } = await api.examples(); start([new File(queries.map((text, i) => lineOf({ id: 'example-' + (i + 1), text })), 'examples.jsonl')]); };
  return drop(h('div.upload', h('label.button.file', h('input', { type: 'file', multiple: true, class: 'sr', onchange: event => start([...event.target.files]) }), t('upload')), note, meter, h('button.link', { onclick: example }, t('examples')), lines), start, droppedFiles);
}
// Lines of JSON as they are, the rows of a table one by one, any other file as one document.
async function sendFile(file, say, part) {
  if (/\.(jsonl|ndjson)$/i.test(file.name)) {
    let before = 0, read = 0;
    for await (const some of linesOf(file)) {
      await api.upload(some.join('\n') + '\n', each => say({ ...each, line: before + each.line }));
      before += some.length; read += some.reduce((sum, line) => sum + line.length + 1, 0); part(Math.min(1, read / file.size));
    }
    return;
  }
  const found = await api.readFile(file);
  if (!/\.(csv|tsv)$/i.test(file.name)) return api.upload(lineOf({ id: file.webkitRelativePath || file.name, text: found.text, meta: { kind: found.kind } }), each => say({ ...each, line: null }));
  const rows = csvRows(found.text);
  if (rows.length && !('text' in rows[0])) throw { message: t('notext', { name: file.name }) };
  for (let from = 0; from < rows.length; from += 1000) {
    await api.upload(rows.slice(from, from + 1000).map(({ id, text, ...meta }, i) => lineOf({ id: id || `${file.name}-${from + i + 1}`, text, meta })).join(''), each => say({ ...each, line: from + each.line }));
    part(Math.min(1, (from + 1000) / rows.length));
  }
}

// ---- clusters: what is kept in the middle, and those that were verified against it around
async function clusters(main, stats, query) {
  const phone = matchMedia('(max-width: 720px)').matches, W = phone ? 390 : 1000, H = phone ? 560 : 496, svg = s('svg.graph', { viewBox: `0 0 ${W} ${H}`, role: 'group', 'aria-label': t('graph_l') }), side = h('div.members-box');
  const say = h('p.lead', { 'aria-live': 'polite' }), warn = h('p.soft.tiny'), box = h('div.hist'), own = stats.settings.threshold;
  let list = [], round = 0;
  if (query.get('t')) state.threshold = +query.get('t');
  async function settle() {
    const mine = ++round;
    try {
      const found = await api.clusters(state.threshold);
      if (mine !== round) return;
      list = found.clusters.map(each => ({ ...each, size: each.removed.length + 1 })).sort((a, b) => b.size - a.size);
      warn.textContent = [...found.notes, state.threshold < own ? t('below', { x: own }) : ''].filter(Boolean).join(' ');
      paint(); histogram(); members();
    } catch (error) { side.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }, settle)); }
  }
  // Each cluster has a cell of a grid; springs hold members at a distance that says how alike they are, charges keep them apart.
  function paint() {
    const some = list.slice(0, phone ? 24 : 60), rows = Math.max(1, Math.round(Math.sqrt(some.length / (phone ? .55 : 1.7)))), columns = Math.ceil(some.length / rows) || 1;
    const parts = some.map((cluster, n) => {
      const cx = (n % columns + .5) * W / columns, cy = (Math.floor(n / columns) + .5) * (H - 30) / rows + 4, reach = Math.min(W / columns, (H - 30) / rows) / 2 - 16;
      const around = cluster.removed.slice(0, 60).map((member, i) => { const angle = i * 2.39996 + n; return { ...member, x: cx + Math.cos(angle) * reach * .6, y: cy + Math.sin(angle) * reach * .6 }; });
      for (let k = 0; k < 80; k++) {
        for (const a of around) {
          let dx = a.x - cx, dy = a.y - cy; const d = Math.hypot(dx, dy) || 1, want = Math.max(12, reach * (.35 + (1 - a.similarity) * 1.6 / Math.max(.1, 1 - state.threshold) * .4));
          let fx = dx / d * (want - d) * .3, fy = dy / d * (want - d) * .3;
          for (const b of around) if (a !== b) { dx = a.x - b.x; dy = a.y - b.y; const q = dx * dx + dy * dy + 4; if (q < 2500) { fx += dx / q * 12; fy += dy / q * 12; } }
          a.x = Math.min(cx + reach, Math.max(cx - reach, a.x + fx)); a.y = Math.min(cy + reach, Math.max(cy - reach, a.y + fy));
        }
      }
      const on = state.picked === n ? ' on' : '';
      return [around.map(a => s('line', { x1: cx.toFixed(1), y1: cy.toFixed(1), x2: a.x.toFixed(1), y2: a.y.toFixed(1), 'stroke-width': (.5 + a.similarity * 3).toFixed(1), class: on.trim() || null })),
        around.map(a => s('g', { class: on.trim() || null, onclick: () => pick(n) }, s('circle', { cx: a.x.toFixed(1), cy: a.y.toFixed(1), r: 6 }, s('title', `${a.id}: ${score(a.similarity)}`)))),
        s('g', { class: 'keep' + on, tabindex: '0', role: 'button', 'aria-label': `${cluster.kept}, ${cluster.size}`, onclick: () => pick(n), onkeydown: event => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); pick(n); } } }, s('circle', { cx: cx.toFixed(1), cy: cy.toFixed(1), r: 8.5 }, s('title', String(cluster.kept)))),
        s('text', { x: cx, y: Math.min(H - 4, cy + reach + 12), 'text-anchor': 'middle' }, `${String(cluster.kept).slice(0, 18)} · ${cluster.size}`)];
    });
    // Those that look like no other stand on a shelf, as many as it has room for.
    const alone = Math.max(0, stats.documents - list.reduce((sum, each) => sum + each.size, 0)), wide = Math.floor((W - 24) / 12);
    const shelf = alone > 0 && [s('line', { x1: 0, x2: W, y1: H + 8, y2: H + 8, 'stroke-dasharray': '2 4' }), s('text.soft', { x: 12, y: H + 24 }, t('single', { n: num(alone) })), Array.from({ length: Math.min(alone, wide) }, (_, i) => s('g.alone', s('circle', { cx: 16 + i * 12, cy: H + 38, r: 4 })))];
    svg.setAttribute('viewBox', `0 0 ${W} ${H + (alone ? 48 : 0)}`);
    svg.replaceChildren(...[...parts, shelf || []].flat(3));
    say.textContent = t('atthreshold', { c: num(list.length), d: num(list.reduce((sum, each) => sum + each.size, 0)), x: state.threshold.toFixed(2) });
  }
  const pick = n => { state.picked = n; paint(); members(); };
  async function members() {
    const cluster = list[state.picked];
    if (!cluster) return side.replaceChildren(h('p.soft', t(list.length ? 'pick' : 'e_clusters')), roving(h('ol.ranked', list.slice(0, 200).map((each, n) => h('li', h('button', { onclick: () => pick(n) }, h('b', String(each.kept)), h('span'), h('span.num.soft', String(each.size)))))), 'button'));
    const all = [{ id: cluster.kept, similarity: 1 }, ...[...cluster.removed].sort((a, b) => b.similarity - a.similarity)], mine = state.picked;
    side.replaceChildren(skeleton(5));
    const texts = await Promise.all(all.slice(0, 30).map(({ id }) => api.get(id).catch(() => ({ id, text: '', meta: {} }))));
    if (mine !== state.picked) return;
    const pair = new Set(), both = h('button', { disabled: true, onclick: () => beside(...all.filter(({ id }) => pair.has(id)).map(({ id }) => id)) }, t('open'));
    const choose = id => h('input', { type: 'checkbox', 'aria-label': String(id), onchange: event => { pair[event.target.checked ? 'add' : 'delete'](id); both.disabled = pair.size !== 2; } });
    side.replaceChildren(h('div.title', h('h2', String(cluster.kept)), h('button.link', { onclick: () => { state.picked = null; paint(); members(); } }, t('clusters'))),
      h('p.row', h('span.soft', t('two')), both),
      h('ol.members', texts.map((doc, k) => h('li', h('div.head', h('label.row', choose(doc.id), h('b', String(doc.id))), k ? bar(all[k].similarity) : h('span.pill', t('keeper')), h('span.num', k ? score(all[k].similarity) : '')), h('p', { lang: langOf(doc.text || ''), dir: 'auto' }, (doc.text || '').slice(0, 220)), h('div.row', h('span.soft', facts(doc)), k > 0 && h('button.link', { onclick: () => beside(cluster.kept, doc.id) }, t('open')))))),
      stats.service.writes && h('button.primary', { onclick: () => remove(cluster.removed.map(each => each.id), () => { state.picked = null; settle(); }) }, t('dupes', { n: cluster.removed.length })));
  }
  function histogram() {
    const counts = new Array(40).fill(0); for (const each of list) for (const { similarity } of each.removed) counts[Math.min(39, Math.floor(similarity * 40))]++;
    const top = Math.log1p(Math.max(1, ...counts)), bars = counts.map((n, i) => s('rect', { x: i * 10 + .5, y: 70 - Math.log1p(n) / top * 66, width: 9, height: Math.log1p(n) / top * 66, rx: 1, class: (i + .5) / 40 >= state.threshold ? 'in' : null }, s('title', `${(i / 40).toFixed(2)}: ${n}`)));
    const out = h('output', state.threshold.toFixed(2));
    const slider = h('input', { type: 'range', min: .2, max: 1, step: .025, value: state.threshold, 'aria-label': t('threshold'), oninput: event => { state.threshold = +event.target.value; out.textContent = state.threshold.toFixed(2); state.picked = null; }, onchange: () => settle().then(() => box.querySelector('input')?.focus()) });
    box.replaceChildren(h('div.row', h('span.soft', t('hist')), h('label.row', t('threshold'), ' ', out)), s('svg', { viewBox: '0 0 400 72', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, bars), slider);
  }
  main.append(h('div.explore', h('div', svg, box), h('div', say, warn, side)));
  histogram(); await settle();
}
