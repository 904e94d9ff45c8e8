// A strip that shows where the changes are; left lane A, right lane B.
import { h, t } from './core.js';
import { KINDS } from './kinds.js';

export function minimap(view) {
  const canvas = h('canvas.minimap', { role: 'img', 'aria-label': t('minimap'), title: t('map_go') });
  let marks = null;                                      // the changes, painted once for each drawing of the table
  const colour = name => { canvas.style.color = `var(--${name})`; return getComputedStyle(canvas).color; };
  function painted(wide, tall, scale, ratio) {
    const layer = h('canvas'), lane = (wide - 6) / 2, inks = Object.fromEntries(KINDS.map(kind => [kind, colour(kind + '-line')]));
    layer.width = wide * ratio; layer.height = tall * ratio;
    const g = layer.getContext('2d'); g.scale(ratio, ratio);
    for (const { kind, side, top, tall: high } of view.places()) {
      const half = kind === 'moved' || kind === 'reworded', w = half ? lane * .55 : lane;
      g.fillStyle = inks[kind]; g.fillRect((side ? lane + 4 : 2) + (kind === 'moved' ? lane - w : 0), top * scale, w, Math.max(2, high * scale - 1));
    }
    return layer;
  }
  function paint() {
    const box = view.el.getBoundingClientRect(), tall = canvas.clientHeight, wide = canvas.clientWidth, ratio = devicePixelRatio || 1;
    if (!tall || !box.height) return;
    const scale = Math.min(1, tall / box.height);
    marks ||= painted(wide, tall, scale, ratio);
    if (canvas.width !== wide * ratio || canvas.height !== tall * ratio) { canvas.width = wide * ratio; canvas.height = tall * ratio; }
    const g = canvas.getContext('2d'); g.setTransform(ratio, 0, 0, ratio, 0, 0); g.clearRect(0, 0, wide, tall);
    g.fillStyle = colour('view'); g.fillRect(0, Math.max(0, -box.top) * scale, wide, Math.min(innerHeight, box.height) * scale);
    g.drawImage(marks, 0, 0, wide, tall);
  }
  let queued = false;
  const later = () => { if (!queued) { queued = true; requestAnimationFrame(() => { queued = false; if (canvas.isConnected) paint(); else removeEventListener('scroll', later, true); }); } };
  const anew = () => { marks = null; later(); };
  addEventListener('scroll', later, { passive: true, capture: true });
  new ResizeObserver(anew).observe(view.el); view.el.addEventListener('drawn', anew);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', anew);
  new MutationObserver(anew).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const to = event => { const box = view.el.getBoundingClientRect(), y = event.clientY - canvas.getBoundingClientRect().top; scrollTo({ top: scrollY + box.top + y / Math.min(1, canvas.clientHeight / box.height) - innerHeight / 2 }); };
  canvas.addEventListener('pointerdown', event => { canvas.setPointerCapture(event.pointerId); to(event); canvas.onpointermove = to; });
  canvas.addEventListener('pointerup', () => canvas.onpointermove = null);
  return canvas;
}
