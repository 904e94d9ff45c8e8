// Long tables. Only the parts near the screen have their rows; a part that is far keeps its height, so that the scroll bar is true.
import { h } from './core.js';

const NEAR = 1200;                                       // pixels above and below the screen
const PART = 40, TALL = 1600;                            // rows that come and go together, or fewer of so many pixels

/** Parts (each a tbody) for items. ``build`` makes the row of an item, ``guess`` says how tall it may be until it was seen. */
export function windowed(build, guess, { columns, all = false }) {
  const items = [], parts = [], of = new Map();
  let watch = null, scale = 1;
  const space = part => part.el.replaceChildren(h('tr.far', { 'aria-hidden': 'true' }, h('td', { colspan: String(columns), style: { height: part.tall * (part.seen ? 1 : scale) + 'px' } })));
  const show = part => { if (part && !part.shown) { part.shown = true; part.el.replaceChildren(...items.slice(part.from, part.to).map((item, k) => build(item, part.from + k))); } };
  const hide = part => { if (part.shown) { part.tall = part.el.offsetHeight; part.seen = true; part.shown = false; space(part); } };
  const every = () => parts.forEach(show);
  function start() {
    if (all || watch || !parts[0]?.el.isConnected) return;
    const known = parts.filter(part => part.shown), sum = name => known.reduce((total, part) => total + name(part), 0);
    scale = sum(part => part.el.offsetHeight) / (sum(part => part.tall) || 1) || 1;
    parts.forEach(part => part.shown || space(part));
    watch = new IntersectionObserver(seen => { for (const { target, isIntersecting } of seen) if (isIntersecting) show(of.get(target)); else if (target.isConnected) hide(of.get(target)); }, { root: parts[0].el.closest('dialog'), rootMargin: `${NEAR}px 0px` });
    parts.forEach(part => watch.observe(part.el));
    addEventListener('beforeprint', every);
  }
  return {
    parts,
    /** More items at the end; returns the parts that were made for them. */
    add(more) {
      const first = parts.length;
      let part = null;
      more.forEach((item, k) => {
        if (!part || !all && (part.to - part.from >= PART || part.tall >= TALL)) { const from = items.length + k; part = { from, to: from, el: h('tbody'), shown: false, seen: false, tall: 0 }; parts.push(part); }
        part.to++; if (!all) part.tall += guess(item);
      });
      for (const item of more) items.push(item);
      const made = parts.slice(first);
      made.forEach((part, i) => { of.set(part.el, part); if (first + i < 2) show(part); else space(part); watch?.observe(part.el); });
      if (!watch) requestAnimationFrame(start);
      return made.map(part => part.el);
    },
    stop() { watch?.disconnect(); removeEventListener('beforeprint', every); },
    /** The part of an item, with its rows and those around it, so that it can be scrolled to; ``was`` says whether they were there. */
    part(at) {
      const place = parts.findLastIndex(part => part.from <= at), was = parts[place]?.shown;
      [parts[place - 1], parts[place], parts[place + 1]].forEach(show);
      return { part: parts[place], was };
    },
  };
}
