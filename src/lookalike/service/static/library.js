// The Library view: documents, clusters of those that look alike, and all against all.
import { h, t, num, segmented, toast, problem, skeleton } from './core.js';
import * as api from './api.js';

const facts = doc => [...Object.values(doc.meta || {}).filter(value => typeof value !== 'object').slice(0, 3).map(String), t('chars', { n: num(doc.characters ?? [...(doc.text || '')].length) })].join(' · ');

export async function render(main, query, [tab = 'documents']) {
  const title = h('div.title', h('h1', t('library')), segmented(t('library'), [['documents', t('documents')], ['clusters', t('clusters')], ['matrix', t('matrix')]], tab, key => location.hash = '#/library/' + key));
  main.append(title);
  const body = h('div', skeleton(8)); main.append(body);
  try {
    const stats = await api.stats();
    body.replaceChildren();
    if (tab === 'matrix') await (await import('./matrix.js')).matrix(body, beside);
    else if (tab === 'clusters') await (await import('./clusters.js')).clusters(body, stats, query, { beside, remove, facts });
    else await (await import('./documents.js')).documents(body, stats, { beside, remove, facts });
  } catch (error) { body.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }, () => { main.replaceChildren(); render(main, query, [tab]); })); }
}

// Both in one dialog; either side may have gone meanwhile. ``names``: what they are called where their ids are hidden.
async function beside(a, b, names = null) {
  try {
    const [left, right] = await Promise.all([api.get(a), api.get(b)]);
    const result = await api.compare({ left: left.text || '', right: right.text || '' });
    const labels = names || [String(a), String(b)];
    await (await import('./pair.js')).pairDialog(labels.join(' · '), { left: left.text || '', right: right.text || '', result, labels, link: names ? null : api.pairLink(a, b) });
  } catch (error) { toast(error.message || String(error)); }
}
// Removed at once, and put back as it was by undo.
async function remove(ids, after) {
  try {
    const kept = (await api.each(ids, id => api.get(id).catch(error => { if (error.status !== 404) throw error; }))).filter(Boolean);   // another tab may have been first
    for (let from = 0; from < ids.length; from += 5000) await api.remove(ids.slice(from, from + 5000));
    after();
    toast(t('removed', { n: num(kept.length) }), kept.length > 0 && (async () => { try { await api.upload(kept.map(({ id, text, meta }) => JSON.stringify({ id, text, meta }) + '\n').join(''), () => {}); after(); } catch (error) { toast(error.message || String(error)); } }));
  } catch (error) { toast(error.message || String(error)); after(); }
}
