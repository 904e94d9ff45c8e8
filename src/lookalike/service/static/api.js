// What the page asks the service, and nothing else. Every error becomes { code, message, hint }.
import { t } from './core.js';
import { KINDS } from './kinds.js';

const keyName = 'lookalike.token';
export const token = {
  get: () => { try { return sessionStorage.getItem(keyName) || ''; } catch { return ''; } },
  set: value => { try { sessionStorage.setItem(keyName, value); } catch { /* private mode */ } },
};
const collection = () => { const name = new URLSearchParams(location.search).get('collection'); return name ? { collection: name } : {}; };
const headers = more => ({ ...(token.get() && { Authorization: 'Bearer ' + token.get() }), ...more });
export const withQuery = (path, values = {}) => {
  const query = new URLSearchParams(Object.entries({ ...collection(), ...values }).filter(([, value]) => value != null && value !== '')).toString();
  return query ? `${path}?${query}` : path;
};

async function send(method, path, { json, body, type } = {}) {
  let answer;
  try {
    answer = await fetch(path, { method, headers: headers(json !== undefined ? { 'Content-Type': 'application/json' } : type ? { 'Content-Type': type } : {}), body: json !== undefined ? JSON.stringify(json) : body });
  } catch {
    throw { code: 'unreachable', message: t('gone'), hint: t('gone_') };
  }
  if (answer.ok) return answer;
  let problem = {};
  try { problem = await answer.json(); } catch { /* not ours */ }
  const wait = answer.headers.get('Retry-After');
  throw { code: problem.code || String(answer.status), message: problem.message || t('failed', { n: answer.status }), hint: [problem.hint, wait && t('again', { n: wait })].filter(Boolean).join(' '), status: answer.status };
}
const ask = async (...given) => (await send(...given)).json();

// Segments as short rows: [kind, from, to, partner from, partner to].
const rows = list => list.map(({ kind, span, partner }) => [KINDS.indexOf(kind), span[0], span[1], partner ? partner[0] : -1, partner ? partner[1] : -1]);
export function readable(result) {
  if (result.segments && !Array.isArray(result.segments.left[0] || [])) result.segments = { left: rows(result.segments.left), right: rows(result.segments.right) };
  return result;
}

export const stats = () => ask('GET', withQuery('/stats'));
export const examples = (found => () => found ||= fetch('examples.json').then(answer => answer.json()))();
export async function compare({ left, right, as = 'text', ignore = [], method }) {
  if (!String(left).trim() || !String(right).trim()) throw { code: 'input', message: t('oneempty'), hint: t('oneempty_') };
  if (left.length + right.length > 4e6) throw { code: 'too-large', message: t('toolarge'), hint: t('toolarge_') };
  const record = text => { try { return JSON.parse(text); } catch (error) { throw { code: 'input', message: t('notjson'), hint: String(error.message) }; } };
  const things = as === 'record' ? { left: record(left), right: record(right) } : { left, right };
  const found = await ask('POST', '/compare', { json: { ...things, as, ...(ignore.length && as === 'text' && { ignore_form: ignore }), ...(method && as === 'page' && {}) } });
  return readable(found);
}
export const reportOf = async ({ left, right, as, names, ignore = [] }) => (await send('POST', '/compare', { json: { left: as === 'record' ? JSON.parse(left) : left, right: as === 'record' ? JSON.parse(right) : right, as, names, format: 'html', ...(ignore.length && as === 'text' && { ignore_form: ignore }) } })).text();
/** The text of a file: plain text is read here, everything else by the service. */
export async function readFile(file) {
  if (file.size > 64e6) throw { code: 'too-large', message: t('toolarge'), hint: t('toolarge_') };
  if (/\.(txt|md|csv|tsv|jsonl|json|py|js|c|h|cpp|java|go|rs|css)$/i.test(file.name) && file.size < 8e6) {
    const text = new TextDecoder('utf-8', { fatal: true });
    try { return { text: text.decode(await file.arrayBuffer()), name: file.name, kind: 'text', notes: [] }; } catch { /* another encoding: the service knows */ }
  }
  return ask('POST', withQuery('/read', { name: file.name }), { body: await file.arrayBuffer(), type: 'application/octet-stream' });
}
export const fetchPage = url => ask('POST', '/fetch', { json: { url } });
export function search({ text, by, from, where, limit = 50 }) {
  const hash = /^\s*(0x[0-9a-f]{1,32})\s*$/i.exec(text);
  const filter = Object.fromEntries(Object.entries(where || {}).filter(([, values]) => values.size).map(([key, values]) => [key, { in: [...values] }]));
  return ask('POST', withQuery('/search'), { json: { ...(hash ? { simhash: hash[1] } : { text, by }), ...(by !== 'simhash' && !hash && { threshold: from }), ...(by === 'simhash' && { k: 6 }), limit, with_text: true, ...(Object.keys(filter).length && { where: filter }) } });
}
export const admit = (id, text, meta = {}) => ask('POST', withQuery('/admit'), { json: { id, text, meta, mode: 'add' } });
export const put = (id, text, meta = {}) => ask('PUT', withQuery('/documents/' + encodeURIComponent(id), typeof id === 'number' ? { number: '1' } : {}), { json: { text, meta } });
/** An id in an address is JSON, since 7 and "7" are two ids; anything else is a text. */
export const idOf = text => { try { const id = JSON.parse(text); return typeof id === 'number' || typeof id === 'string' ? id : text; } catch { return text; } };
export const pairLink = (a, b) => `#/compare?a=${encodeURIComponent(JSON.stringify(a))}&b=${encodeURIComponent(JSON.stringify(b))}`;
export const get = id => ask('GET', withQuery('/documents/' + encodeURIComponent(id), typeof id === 'number' ? { number: '1' } : {}));
export const remove = ids => ask('POST', withQuery('/documents/remove'), { json: { ids } });
export const documents = (after, contains, limit = 200) => ask('GET', withQuery('/documents', { after, contains, limit, excerpt: 160 }));
/** Some at a time: a browser opens no more connections, and the service has its limits. */
export async function each(list, work, many = 6) {
  const out = []; let at = 0;
  await Promise.all(Array.from({ length: many }, async () => { while (at < list.length) { const i = at++; out[i] = await work(list[i]); } }));
  return out;
}
export const clusters = (threshold, by = 'near') => ask('GET', withQuery('/clusters', { threshold, by }));
export const pairs = asked => ask('POST', withQuery('/pairs'), { json: asked });
export const pairsReport = async asked => (await send('POST', withQuery('/pairs'), { json: { ...asked, format: 'html' } })).text();
export const feedback = pairs => ask('POST', '/feedback', { json: { pairs } });
/** NDJSON up, a status for each line down, as they come. */
export async function upload(lines, each) {
  const answer = await send('POST', withQuery('/documents'), { body: new Blob([lines]), type: 'application/x-ndjson' });
  const reader = answer.body.getReader(), decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    rest += decoder.decode(value || new Uint8Array(), { stream: !done });
    const whole = rest.split('\n'); rest = done ? '' : whole.pop();
    for (const line of whole) if (line.trim()) each(JSON.parse(line));
    if (done) return;
  }
}
