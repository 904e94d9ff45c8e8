// Documents: listed, added with a status for each line, removed.
import { h, t, num, toast, drop, langOf, announce } from './core.js';
import { csvRows, droppedFiles, linesOf } from './tables.js';
import { windowed } from './window.js';
import * as api from './api.js';

const state = { filter: '' };
const PAGE = 200;                                        // documents that are fetched at a time

export async function documents(main, stats, { beside, remove, facts }) {
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
