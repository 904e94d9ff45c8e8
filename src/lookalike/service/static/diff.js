// Two texts side by side. Rows line up, so there is one scroll bar and nothing to keep in step.
import { h, $$, t, num, announce, settings, langOf } from './core.js';
import { KINDS } from './kinds.js';
import { windowed } from './window.js';

const MANY = 2000, MUCH = 200000;                        // rows, characters; of more only those near the screen are drawn
const LONG = 4000, PIECE = 2000;                         // characters of a line; a longer one is shown in pieces
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
// Where very long lines are broken: behind a sentence or a word if there is one, else anywhere.
function breaksOf(cp) {
  const out = new Set(); let from = 0;
  for (let i = 0; i <= cp.length; i++) if (i === cp.length || cp[i] === '\n') {
    if (i - from > LONG) while (i - from > PIECE) {
      let at = from + PIECE; const end = Math.min(i, at + PIECE / 2);
      while (at < end && !'.!?。！？'.includes(cp[at - 1])) at++;
      if (at === end) { at = from + PIECE; while (at < end && cp[at - 1] !== ' ') at++; }
      if (at === end) at = from + PIECE;
      if (at < i) out.add(at); from = at;
    }
    from = i + 1;
  }
  return out.size ? out : null;
}
function cut(cp, segments) {                             // into lines
  const breaks = breaksOf(cp), out = []; let line = { from: 0, parts: [] };
  for (const g of segments) {
    let at = g.from, head = true;
    const push = end => {                                // indentation is never marked
      let from = at; if (!line.parts.length && g.kind !== 'kept') while (from < end && /\s/.test(cp[from])) from++;
      if (from > at) line.parts.push({ g: SPACE, from: at, to: from });
      if (end > from) { line.parts.push({ g, from, to: end, head }); head = false; }
    };
    for (let i = g.from; i < g.to; i++) {
      const ends = cp[i] === '\n', cuts = !ends && breaks?.has(i);
      if (ends || cuts) { push(i); line.to = i; out.push(line); at = ends ? i + 1 : i; line = { from: at, parts: [], more: cuts }; }
    }
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
  lines.forEach((list, side) => { let n = 0; for (const line of list) { for (const p of line.parts) p.text = cp[side].slice(p.from, p.to).join(''); line.n = !line.more && (code || !blank(line)) ? ++n : n; } });
  const rows = rowsOf(lines[0], lines[1], code), large = rows.length > MANY || cp[0].length + cp[1].length > MUCH;
  const changes = [], byKey = new Map(); let moves = 0;
  const keyOf = (g, side) => g.a < 0 ? side + ':' + g.from : side ? g.a + '>' + g.from : g.from + '>' + g.a;
  rows.forEach((row, i) => row.forEach((line, side) => line?.parts.forEach(p => {
    if (plain(p)) return;
    const key = keyOf(p.g, side);
    if (!byKey.has(key)) { const change = { kind: p.g.kind, side, at: changes.length, no: p.g.kind === 'moved' ? ++moves : 0, g: [null, null], rows: [-1, -1] }; byKey.set(key, change); changes.push(change); }
    const change = byKey.get(key); change.g[side] = p.g; if (change.rows[side] < 0) change.rows[side] = i;
  })));
  const textOf = (g, side) => g ? cp[side].slice(g.from, g.to).join('').trim().replace(/\s+/g, ' ') : '';
  const clip = x => { const c = [...x]; return c.length > 60 ? c.slice(0, 56).join('') + '…' : x; };
  const langs = [lang || langOf(left), lang || langOf(right)];
  const el = h('table', { class: 'diff' + (code ? ' code' : '') });
  const state = { inline, folded }, opened = new Set();  // folds that were opened, by their first row
  let at = -1, kindOnly = null, current = null, flash = null, items = [], itemOf = [], parts = null;
  const rowsBy = [null, null];

  const inside = ([from, to], p) => p.from < to && p.to > from;
  function mark(p, side, old) {
    const { kind } = p.g, lit = flash && inside(side ? flash.right : flash.left, p) ? ' flash' : '', where = { side, from: p.from, to: p.to };
    if (plain(p)) return h('span', { data: where, class: (kind === 'same' ? 'same' : '') + lit || null, title: kind === 'same' ? t('forms') : null }, p.text);
    const change = byKey.get(keyOf(p.g, side)), { no } = change;
    return h({ deleted: 'del', inserted: 'ins' }[kind] || 'span', { data: { ...where, change: change.at }, class: 'm ' + kind + (old && kind === 'reworded' ? ' old' : '') + (change === current ? ' cur' : '') + lit, onclick: () => go(change.at, side) },
      no > 0 && p.head && h('button.no', { tabindex: '-1', 'aria-label': t(side ? 'movedfrom' : 'movedto', { n: no }) + ': ' + clip(p.text), onclick: event => { event.stopPropagation(); jump(change, 1 - side); } }, '⇄' + no), p.text);
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
  // What stands in the table, from top to bottom: the number of a row, or a fold [from, to).
  function list() {
    items = []; itemOf = [];
    const context = code ? 3 : 0, near = new Uint8Array(rows.length);
    rows.forEach((row, i) => { if (touched(row)) near.fill(1, Math.max(0, i - context), i + context + 1); });
    for (let i = 0; i < rows.length; i++) {
      if (state.folded && !near[i]) {
        let end = i; while (end < rows.length && !near[end]) end++;
        if (end - i >= (code ? 4 : 2) && !opened.has(i)) { for (let k = i; k < end; k++) itemOf[k] = items.length; items.push([i, end]); i = end - 1; continue; }
        for (; i < end; i++) { itemOf[i] = items.length; items.push(i); }
        i--; continue;
      }
      itemOf[i] = items.length; items.push(i);
    }
  }
  const build = item => Array.isArray(item) ? foldRow(item) : oneRow(rows[item]);
  const perLine = () => (state.inline ? 110 : 55) * (langs[1] === 'en' ? 1 : .55);
  const guess = item => Array.isArray(item) ? 32 : code ? 21 : 13 + 28 * Math.max(1, Math.ceil(Math.max(...rows[item].map(line => line ? line.to - line.from : 0)) / perLine()));
  function draw() {
    list(); parts?.stop();
    parts = windowed(build, guess, { columns: state.inline ? 2 : 4, all: !large });
    el.className = 'diff' + (code ? ' code' : '') + (state.inline ? ' inline' : '');
    el.replaceChildren(
      h('colgroup', (state.inline ? [1] : [1, 2]).map(() => [h('col.n'), h('col')])),
      h('thead.sr', state.inline ? h('tr', h('th', { scope: 'col' }, '#'), h('th', { scope: 'col' }, labels.join(' → '))) : h('tr', h('th', { scope: 'col' }, '#'), h('th', { scope: 'col' }, labels[0]), h('th', { scope: 'col' }, '#'), h('th', { scope: 'col' }, labels[1]))),
      ...parts.add(items));
    el.dispatchEvent(new Event('drawn', { bubbles: true }));
  }
  function oneRow(row) {
    const [l, r] = row, changed = touched(row);
    const no = line => line && !line.more && (code || !blank(line)) ? h('th', { scope: 'row' }, String(line.n)) : h('td.n');
    if (state.inline) return h('tr', { class: changed ? 'changed' : null }, no(r || l), h('td', { lang: langs[1], dir: 'auto' }, merge(row)));
    const cell = (line, side) => h('td', { lang: langs[side], dir: 'auto', class: line ? null : 'void', data: { label: labels[side] } }, marks(line, side));
    return h('tr', { class: changed ? 'changed' : null }, no(l), cell(l, 0), no(r), cell(r, 1));
  }
  function foldRow([from, to]) {
    let count = 0, chars = 0; for (let i = from; i < to; i++) { const [l] = rows[i]; if (l) { chars += l.to - l.from; if (!blank(l) && !l.more) count++; } }
    const open = () => { opened.add(from); redraw(from); const cell = itemEl(itemOf[from])?.lastChild; if (cell) { cell.tabIndex = -1; cell.focus({ preventScroll: true }); } };
    return h('tr.fold', h('td', { colspan: state.inline ? '2' : '4' }, h('button', { 'aria-expanded': 'false', onclick: open }, h('span', { 'aria-hidden': 'true' }, '⋯'), code ? t('unchanged_l', { n: to - from }) : t('unchanged_p', { n: count, c: num(chars) }))));
  }
  // The element of an item, drawn if it was not.
  function itemEl(item) { const { part } = parts.part(item); return part?.el.children[item - part.from]; }
  // Drawn again, with a row where it was on the screen.
  function redraw(row) {
    const before = itemEl(itemOf[row])?.getBoundingClientRect().top; draw();
    const after = itemEl(itemOf[row]); if (before !== undefined && after?.isConnected) scrollBy(0, after.getBoundingClientRect().top - before);
  }
  const shown = change => $$(`[data-change="${change.at}"]`, el);
  const wanted = () => changes.filter(change => !kindOnly || change.kind === kindOnly);
  function select(change) { $$('.cur', el).forEach(x => x.classList.remove('cur')); current = change; if (change) shown(change).forEach(x => x.classList.add('cur')); }
  function bring(row) {                                  // a far one at once, a near one smoothly
    const box = itemEl(itemOf[row])?.getBoundingClientRect();
    return box && Math.abs(box.top) < 2 * innerHeight && !matchMedia('(prefers-reduced-motion: reduce)').matches ? 'smooth' : 'auto';
  }
  function jump(change, side) {
    const where = change.rows[side] < 0 ? 1 - side : side, behavior = bring(change.rows[where]);
    select(change); shown(change).find(x => +x.dataset.side === where)?.scrollIntoView({ block: 'center', behavior });
  }
  // Lit, its fold opened, in the middle of the screen.
  function show(p, row) {
    flash = p; $$('.flash', el).forEach(x => x.classList.remove('flash'));
    if (row < 0) return;
    if (Array.isArray(items[itemOf[row]])) { opened.add(items[itemOf[row]][0]); draw(); }
    bring(row);
    $$('[data-from]', el).forEach(x => { const [from, to] = x.dataset.side === '0' ? p.left : p.right; if (+x.dataset.from < to && +x.dataset.to > from) x.classList.add('flash'); });
    itemEl(itemOf[row])?.scrollIntoView({ block: 'center' });
  }
  function say(change) {
    const all = wanted(), a = clip(textOf(change.g[0], 0)), b = clip(textOf(change.g[1], 1));
    announce(t('change_say', { i: all.indexOf(change) + 1, n: all.length, kind: t(change.kind), what: change.kind === 'reworded' ? t('became', { a, b }) : a || b }));
  }
  function go(index, side) { at = index; const change = changes[at]; jump(change, side ?? change.side); say(change); el.dispatchEvent(new CustomEvent('change-at', { bubbles: true, detail: wanted().indexOf(change) })); }
  draw();
  return {
    el, rows, state, cp, large,
    get count() { return wanted().length; },
    next(step) {
      const n = changes.length; if (!wanted().length) return announce(t('nochange'));
      let to = at + step;
      for (let k = 0; k < n; k++, to += step) { to = (to + n) % n; if (!kindOnly || changes[to].kind === kindOnly) break; }
      go(to);
    },
    only(kind) { kindOnly = kind; at = -1; el.dataset.only = kind || ''; select(null); },
    set(key, value) { state[key] = value; opened.clear(); draw(); },
    passage(p) { show(p, rows.findIndex(([l]) => l?.parts.some(part => inside(p.left, part)))); },
    /** The row in which a place of one side stands. */
    rowAt(side, at) {
      rowsBy[side] ||= rows.flatMap((row, i) => row[side] ? [[row[side].from, i]] : []).sort((a, b) => a[0] - b[0]);
      const list = rowsBy[side]; let lo = 0, hi = list.length - 1;
      while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (list[mid][0] <= at) lo = mid; else hi = mid - 1; }
      return list.length && list[lo][0] <= at ? list[lo][1] : -1;
    },
    /** A place that somebody looks for, brought to the screen; null: none any more. */
    found(place) {
      globalThis.CSS?.highlights?.delete('found'); if (!place) return show(null, -1);
      const { side, from, to, row } = place, nowhere = [-1, -1];
      show(side ? { left: nowhere, right: [from, to] } : { left: [from, to], right: nowhere }, row);
      const own = $$(`[data-side="${side}"]`, el).filter(x => +x.dataset.from < to && +x.dataset.to > from);
      if (!own.length || !globalThis.Highlight) return;
      const end = (x, at) => [x.lastChild, cp[side].slice(+x.dataset.from, at).join('').length], range = new Range();
      range.setStart(...end(own[0], Math.max(from, +own[0].dataset.from))); range.setEnd(...end(own.at(-1), Math.min(to, +own.at(-1).dataset.to)));
      CSS.highlights.set('found', new Highlight(range));
      const box = range.getBoundingClientRect(); if (box.top < 80 || box.bottom > innerHeight - 80) (el.closest('.dialog-body') || window).scrollBy(0, box.top - innerHeight / 2);
    },
    /** Where the changes are, in pixels from the top of the table; of a long table by rows. */
    places() {
      const top = el.getBoundingClientRect().top;
      if (!large) return $$('.m', el).flatMap(x => [...x.getClientRects()].map(r => ({ kind: changes[x.dataset.change].kind, side: +x.dataset.side, top: r.top - top, tall: r.height })));
      const out = [], boxes = parts.parts.map(({ el: body }) => { const box = body.getBoundingClientRect(); return [box.top - top, box.height]; });
      for (const { kind, rows: own } of changes) own.forEach((row, side) => {
        if (row < 0) return;
        const item = itemOf[row], part = parts.parts.findLast(each => each.from <= item), [begin, tall] = boxes[parts.parts.indexOf(part)], each = tall / (part.to - part.from);
        out.push({ kind, side, top: begin + (item - part.from) * each, tall: each });
      });
      return out;
    },
  };
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
