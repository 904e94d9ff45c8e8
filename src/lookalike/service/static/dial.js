// The score on a half circle, cut where its meaning changes.
import { h, s, t, score, band } from './core.js';

// `verdict` is what the service says of it: words alone do not tell whether short texts are alike.
export function dial(value, threshold = .8, verdict = '') {
  const R = 58, at = x => { const a = Math.PI * (1 - x); return [70 + R * Math.cos(a), 68 - R * Math.sin(a)]; };
  const arc = (from, to) => { const [x, y] = at(from), [u, v] = at(to); return `M${x.toFixed(2)} ${y.toFixed(2)}A${R} ${R} 0 0 1 ${u.toFixed(2)} ${v.toFixed(2)}`; };
  const stops = [0, .15, .5, .8, .95, 1], gap = .006;
  const spoke = (x, a, b) => { const k = Math.PI * (1 - x); return { x1: 70 + a * Math.cos(k), y1: 68 - a * Math.sin(k), x2: 70 + b * Math.cos(k), y2: 68 - b * Math.sin(k) }; };
  const word = t(value < threshold ? 'notalike' : verdict === 'alike in wording only' ? 'wording' : 'alike');
  return h('div.dial', { role: 'meter', 'aria-valuemin': '0', 'aria-valuemax': '1', 'aria-valuenow': value.toFixed(4), 'aria-label': t('similarity'), 'aria-valuetext': `${score(value)}, ${word}: ${t(band(value))}` },
    s('svg', { viewBox: '0 0 140 84', 'aria-hidden': 'true' },
      stops.slice(1).map((to, i) => s('path', { d: arc(stops[i] + (i ? gap : 0), to - (to < 1 ? gap : 0)), class: 'track' })),
      value > 0 && stops.slice(1).map((to, i) => { const from = stops[i] + (i ? gap : 0), end = Math.min(value, to - (to < 1 ? gap : 0)); return end > from && s('path', { d: arc(from, end), class: 'fill' }); }),
      s('line', { ...spoke(threshold, 52.500, 63.500), class: 'tick' }),
      s('text', { x: 70, y: 67, class: 'big' }, score(value)), s('text', { x: 70, y: 82, class: 'small' }, `${word} · ${t('threshold')} ${threshold}`)));
}
