// Two texts side by side. Rows line up, so there is one scroll bar and nothing to keep in step.
import { h, $$, t, num, announce, settings, langOf } from './core.js';

export const KINDS = ['kept', 'moved', 'reworded', 'deleted', 'inserted'];
// Segments [kind, start, end, partner start, partner end] of one side, as objects; a change of form that does not count has the kind "form".
function read(segments, cp) {
  const out = segments.map(([k, from, to, a, b]) => ({ kind: KINDS[k] || 'same', from, to, a, b }));
  // White space belongs to no segment. Between two pieces of one deletion or insertion it joins them; elsewhere it is plain.
  const merged = []; let at = 0;
  for (const g of [...out, { kind: 'end', from: cp.length, to: cp.length }]) {
    const last = merged.at(-1), joins = last && last.kind === g.kind && (g.kind === 'deleted' || g.kind === 'inserted');
    if (joins && !cp.slice(last.to, g.from).includes('\n')) { last.to = at = g.to; continue; }
    if (g.from > at) merged.push({ kind: 'kept', from: at, to: g.from, a: -1, b: -1 });
    if (g.kind !== 'end') merged.push(g);
    at = g.to;
  }
  return merged;
}
const SPACE = { kind: 'kept', a: -1, b: -1 };
function cut(cp, segments) {                             // into lines
  const out = []; let line = { from: 0, parts: [] };
  for (const g of segments) {
    let at = g.from, head = true;
    const push = end => {                                // indentation is never marked
      let from = at; if (!line.parts.length && g.kind !== 'kept') while (from < end && /\s/.test(cp[from])) from++;
      if (from > at) line.parts.push({ g: SPACE, from: at, to: from });
      if (end > from) { line.parts.push({ g, from, to: end, head }); head = false; }
    };
    for (let i = g.from; i < g.to; i++) if (cp[i] === '\n') { push(i); line.to = i; out.push(line); line = { from: i + 1, parts: [] }; at = i + 1; }
    push(g.to);
  }
  line.to = cp.length; out.push(line);
  if (out.length > 1 && !out.at(-1).parts.length) out.pop();
  return out;
}
function align(left, right) {                            // the heaviest set of line pairs in which both sides keep their order
  const starts = right.map(line => line.from), pairs = new Map();
  const lineOf = at => { let lo = 0, hi = starts.length - 1; while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (starts[mid] <= at) lo = mid; else hi = mid - 1; } return lo; };
  left.forEach((line, i) => line.parts.forEach(({ g, from, to }) => {
    if (!['kept', 'reworded', 'same'].includes(g.kind) || g.a < 0) return;
    const mid = g.a + ((from + to) / 2 - g.from) / (g.to - g.from) * (g.b - g.a), key = i * right.length + lineOf(mid);
    pairs.set(key, (pairs.get(key) || 0) + to - from);
  }));
  const size = line => Math.max(1, line.to - line.from);
  const list = [...pairs].filter(([key, weight]) => weight * 5 >= Math.min(size(left[Math.floor(key / right.length)]), size(right[key % right.length]))).map(([key, weight]) => ({ i: Math.floor(key / right.length), j: key % right.length, weight })).sort((x, y) => x.i - y.i || y.j - x.j);
  const tree = new Array(right.length + 1).fill(null);
  for (const p of list) {
    let best = null;
    for (let k = p.j; k > 0; k -= k & -k) if (tree[k] && (!best || tree[k].sum > best.sum)) best = tree[k];
    p.sum = p.weight + (best ? best.sum : 0); p.before = best;
    for (let k = p.j + 1; k <= right.length; k += k & -k) if (!tree[k] || tree[k].sum < p.sum) tree[k] = p;
  }
  let last = list.reduce((a, b) => !a || b.sum > a.sum ? b : a, null); const chain = [];
  for (; last; last = last.before) chain.push(last);
  return chain.reverse();
}
const blank = line => !line.parts.some(p => p.text.trim());
function rowsOf(left, right, code) {
  const rows = []; let i = 0, j = 0;
  const free = line => line && !line.parts.some(p => p.g.kind === 'moved');
  const gap = (toI, toJ) => {
    while (i < toI || j < toJ) {
      const l = i < toI ? left[i] : null, r = j < toJ ? right[j] : null;
      if (code && l && r && blank(l) === blank(r) && free(l) && free(r) && toI - i === toJ - j) { rows.push([l, r]); i++; j++; }
      else if (l && r && blank(l) && blank(r)) { rows.push([l, r]); i++; j++; }
      else if (l && (!r || !blank(l) || blank(r))) { rows.push([l, null]); i++; }
      else { rows.push([null, r]); j++; }
    }
  };
  for (const pair of align(left, right)) { gap(pair.i, pair.j); rows.push([left[i++], right[j++]]); }
  gap(left.length, right.length);
  return code ? rows : rows.filter(([l, r]) => !((!l || blank(l)) && (!r || blank(r))));
}
const plain = p => p.g.kind === 'kept' || p.g.kind === 'same';
const touched = ([l, r]) => !l || !r ? !!((l || r).parts.length) : [...l.parts, ...r.parts].some(p => !plain(p));

/** The table, and how to walk through it. */
export function diffView({ left, right, result, code = false, labels = ['A', 'B'], lang, inline = false, folded = true }) {
  const cp = [[...left], [...right]];
  const segs = [read(result.segments.left, cp[0]), read(result.segments.right, cp[1])];
  const lines = segs.map((list, side) => cut(cp[side], list));
  lines.forEach((list, side) => { let n = 0; for (const line of list) { for (const p of line.parts) p.text = cp[side].slice(p.from, p.to).join(''); line.n = code || !blank(line) ? ++n : n; } });
  const rows = rowsOf(lines[0], lines[1], code);
  const changes = [], byKey = new Map(), movedNo = new Map();
  const keyOf = (g, side) => g.a < 0 ? side + ':' + g.from : side ? g.a + '>' + g.from : g.from + '>' + g.a;
  for (const row of rows) row.forEach((line, side) => line?.parts.forEach(p => {
    if (plain(p)) return;
    const key = keyOf(p.g, side);
    if (!byKey.has(key)) { byKey.set(key, { kind: p.g.kind, side, els: [[], []], g: [null, null] }); changes.push(byKey.get(key)); if (p.g.kind === 'moved') movedNo.set(key, movedNo.size + 1); }
    byKey.get(key).g[side] = p.g;
  }));
  const textOf = (g, side) => g ? cp[side].slice(g.from, g.to).join('').trim().replace(/\s+/g, ' ') : '';
  const clip = x => { const c = [...x]; return c.length > 60 ? c.slice(0, 56).join('') + '…' : x; };

  function mark(p, side, old) {
    const { kind } = p.g, at = { data: { side, from: p.from, to: p.to } };
    if (plain(p)) return h('span', { ...at, class: kind === 'same' ? 'same' : null, title: kind === 'same' ? t('forms') : null }, p.text);
    const key = keyOf(p.g, side), change = byKey.get(key), no = movedNo.get(key);
    const el = h({ deleted: 'del', inserted: 'ins' }[kind] || 'span', { ...at, class: 'm ' + kind + (old && kind === 'reworded' ? ' old' : ''), onclick: () => go(changes.indexOf(change), side) },
      no && p.head && h('button.no', { tabindex: '-1', 'aria-label': t(side ? 'movedfrom' : 'movedto', { n: no }) + ': ' + clip(p.text), onclick: event => { event.stopPropagation(); jump(change, 1 - side); } }, '⇄' + no), p.text);
    change.els[side].push(el);
    return el;
  }
  const marks = (line, side) => line ? line.parts.map(p => mark(p, side)) : [];
  function merge([l, r]) {                               // one column: what was kept stands once
    const a = l ? [...l.parts] : [], b = r ? [...r.parts] : [], out = [];
    while (a.length || b.length) {
      if (a.length && b.length && plain(a[0]) && plain(b[0])) { out.push(mark(b.shift(), 1)); a.shift(); }
      else if (a.length && !plain(a[0])) out.push(mark(a.shift(), 0, true));
      else if (b.length && !plain(b[0])) out.push(mark(b.shift(), 1));
      else if (a.length) out.push(mark(a.shift(), 0)); else out.push(mark(b.shift(), 1));
    }
    return out;
  }
  const langs = [lang || langOf(left), lang || langOf(right)];
  const el = h('table', { class: 'diff' + (code ? ' code' : '') });
  let at = -1, kindOnly = null, state = { inline, folded };
  function draw() {
    changes.forEach(change => change.els = [[], []]);
    const body = [], context = code ? 3 : 0;
    const near = rows.map((row, i) => rows.slice(Math.max(0, i - context), i + context + 1).some(touched));
    for (let i = 0; i < rows.length; i++) {
      if (state.folded && !near[i]) {
        let end = i; while (end < rows.length && !near[end]) end++;
        if (end - i >= (code ? 4 : 2)) { body.push(foldRow(i, end)); i = end - 1; continue; }
      }
      body.push(oneRow(rows[i]));
    }
    el.className = 'diff' + (code ? ' code' : '') + (state.inline ? ' inline' : '');
    el.replaceChildren(
      h('colgroup', (state.inline ? [1] : [1, 2]).map(() => [h('col.n'), h('col')])),
      h('thead.sr', state.inline ? h('tr', h('th', '#'), h('th', labels.join(' → '))) : h('tr', h('th', '#'), h('th', labels[0]), h('th', '#'), h('th', labels[1]))),
      h('tbody', body));
    el.dispatchEvent(new Event('drawn', { bubbles: true }));
  }
  function oneRow(row) {
    const [l, r] = row, changed = touched(row);
    const no = line => h('th', { scope: 'row' }, line && (code || !blank(line)) ? String(line.n) : '');
    if (state.inline) return h('tr', { class: changed ? 'changed' : null }, no(r || l), h('td', { lang: langs[1] }, merge(row)));
    return h('tr', { class: changed ? 'changed' : null }, no(l), h('td', { lang: langs[0], class: l ? null : 'void', data: { label: labels[0] } }, marks(l, 0)), no(r), h('td', { lang: langs[1], class: r ? null : 'void', data: { label: labels[1] } }, marks(r, 1)));
  }
  function foldRow(from, to) {
    const count = rows.slice(from, to).filter(([l]) => l && !blank(l)).length, chars = rows.slice(from, to).reduce((sum, [l]) => sum + (l ? l.to - l.from : 0), 0);
    const tr = h('tr.fold', h('td', { colspan: state.inline ? '2' : '4' }, h('button', { 'aria-expanded': 'false', onclick: () => {
      const open = rows.slice(from, to).map(oneRow), focus = open[0].lastChild; focus.tabIndex = -1; tr.replaceWith(...open); focus.focus({ preventScroll: true }); el.dispatchEvent(new Event('drawn', { bubbles: true }));
    } }, h('span', { 'aria-hidden': 'true' }, '⋯'), code ? t('unchanged_l', { n: to - from }) : t('unchanged_p', { n: count, c: num(chars) }))));
    return tr;
  }
  const list = () => changes.filter(change => !kindOnly || change.kind === kindOnly);
  function select(change) { $$('.cur', el).forEach(x => x.classList.remove('cur')); change?.els.flat().forEach(x => x.classList.add('cur')); }
  function jump(change, side) { select(change); const to = change.els[side][0] || change.els[1 - side][0]; to?.scrollIntoView({ block: 'center', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth' }); }
  function say(change) {
    const all = list(), a = clip(textOf(change.g[0], 0)), b = clip(textOf(change.g[1], 1));
    announce(t('change_say', { i: all.indexOf(change) + 1, n: all.length, kind: t(change.kind), what: change.kind === 'reworded' ? t('became', { a, b }) : a || b }));
  }
  function go(index, side) { at = index; const change = changes[at]; jump(change, side ?? change.side); say(change); el.dispatchEvent(new CustomEvent('change-at', { bubbles: true, detail: list().indexOf(change) })); }
  draw();
  return {
    el, changes, rows, state, cp,
    get count() { return list().length; },
    next(step) {
      const all = list(); if (!all.length) return announce(t('nochange'));
      let to = at + step; const n = changes.length;
      for (let k = 0; k < n; k++, to += step) { to = (to + n) % n; if (!kindOnly || changes[to].kind === kindOnly) break; }
      go(to);
    },
    only(kind) { kindOnly = kind; at = -1; el.dataset.only = kind || ''; select(null); },
    set(key, value) { state[key] = value; draw(); },
    passage(p) {
      const parts = $$('[data-from]', el), hit = (x, [from, to]) => +x.dataset.from < to && +x.dataset.to > from;
      $$('.flash', el).forEach(x => x.classList.remove('flash'));
      let els = parts.filter(x => hit(x, x.dataset.side === '0' ? p.left : p.right));
      if (!els.length && state.folded) { state.folded = false; draw(); return this.passage(p); }
      els.forEach(x => x.classList.add('flash')); els[0]?.scrollIntoView({ block: 'center' });
    },
    redraw: draw,
  };
}

/** A strip that shows where the changes are; left lane A, right lane B. */
export function minimap(view) {
  const canvas = h('canvas.minimap', { role: 'img', 'aria-label': t('minimap'), title: t('map_go') });
  const paint = () => {
    const box = view.el.getBoundingClientRect(), tall = canvas.clientHeight, wide = canvas.clientWidth, ratio = devicePixelRatio || 1;
    if (!tall || !box.height) return;
    canvas.width = wide * ratio; canvas.height = tall * ratio;
    const g = canvas.getContext('2d'), css = getComputedStyle(canvas), colour = name => { canvas.style.color = `var(--${name})`; return css.color; }, scale = Math.min(1, tall / box.height); g.scale(ratio, ratio);
    const lane = (wide - 6) / 2, inks = Object.fromEntries(KINDS.map(kind => [kind, colour(kind + '-line')]));
    g.fillStyle = colour('view'); g.fillRect(0, Math.max(0, -box.top) * scale, wide, Math.min(innerHeight, box.height) * scale);
    for (const change of view.changes) change.els.forEach((els, side) => els.forEach(x => {
      g.fillStyle = inks[change.kind];
      const half = change.kind === 'moved' || change.kind === 'reworded', w = half ? lane * .55 : lane;
      for (const r of x.getClientRects()) g.fillRect((side ? lane + 4 : 2) + (change.kind === 'moved' ? lane - w : 0), (r.top - box.top) * scale, w, Math.max(2, r.height * scale - 1));
    }));
  };
  let queued = false; const later = () => { if (!queued) { queued = true; requestAnimationFrame(() => { queued = false; if (canvas.isConnected) paint(); else removeEventListener('scroll', later, true); }); } };
  addEventListener('scroll', later, { passive: true, capture: true }); new ResizeObserver(later).observe(view.el); view.el.addEventListener('drawn', later);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', later);
  new MutationObserver(later).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const to = event => { const box = view.el.getBoundingClientRect(), y = event.clientY - canvas.getBoundingClientRect().top; scrollTo({ top: scrollY + box.top + y / Math.min(1, canvas.clientHeight / box.height) - innerHeight / 2 }); };
  canvas.addEventListener('pointerdown', event => { canvas.setPointerCapture(event.pointerId); to(event); canvas.onpointermove = to; });
  canvas.addEventListener('pointerup', () => canvas.onpointermove = null);
  return canvas;
}

/** The shares of an edit as one bar. A is the full width; what was inserted is added at the end, on the same scale. */
export function shares(edits, sizes, pick) {
  const extra = edits.inserted * sizes[1] / (sizes[0] || 1), total = 1 + extra;
  const value = kind => kind === 'inserted' ? extra / total : edits[kind] / total;
  const pieces = KINDS.filter(kind => value(kind) > 0);
  return h('div.shares',
    h('div.stack', { role: 'img', 'aria-label': pieces.map(k => `${t(k)} ${(edits[k] * 100).toFixed(1)}%`).join(settings.lang === 'zh' ? '，' : ', ') }, pieces.map(kind => h('i', { class: 'p ' + kind, style: { 'flex-grow': value(kind).toFixed(5) } }))),
    h('div.legend', KINDS.map(kind => h(pick && kind !== 'kept' ? 'button' : 'span', { class: 'key', type: pick && kind !== 'kept' && 'button', 'aria-pressed': pick && kind !== 'kept' && 'false', disabled: pick && kind !== 'kept' && !(edits[kind] > 0) || null, data: { kind }, onclick: pick && kind !== 'kept' && (event => {
      const el = event.currentTarget, on = el.getAttribute('aria-pressed') !== 'true';
      $$('.key', el.parentNode).forEach(x => x.setAttribute('aria-pressed', String(x === el && on))); pick(on ? kind : null);
    }) }, h('i', { class: 'p ' + kind }), h('span', t(kind)), h('b', (edits[kind] * 100).toFixed(1) + '%')))));
}
