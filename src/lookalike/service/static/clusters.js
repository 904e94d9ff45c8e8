// Clusters: documents that look alike, at a threshold.
import { h, s, t, num, score, bar, langOf, roving, problem, skeleton } from './core.js';
import * as api from './api.js';

const state = { threshold: .8, picked: null };
// What is kept in the middle, and those that were verified against it around
export async function clusters(main, stats, query, { beside, remove, facts }) {
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
