// The Compare view: two panes; the answer has a file of its own, which comes when there is one.
import { h, t, num, segmented, toast, problem, skeleton, drop, settings, langOf } from './core.js';
import * as api from './api.js';

export const state = { left: '', right: '', names: ['A', 'B'], as: 'text', method: 'all', ignore: [], inline: null, folded: true, found: null };
export const keys = {};                                  // filled by the answer

export async function render(main, query) {
  for (const key of Object.keys(keys)) delete keys[key];
  const wanted = query.get('sample'), stored = query.get('a') && query.get('b');
  if (wanted === 'own' && state.found) return answer(main);
  if (wanted && wanted !== 'own') return open(main, api.examples().then(all => all.pairs[wanted] || Promise.reject({ code: 'not-found', message: wanted })), wanted);
  if (stored) return open(main, Promise.all([query.get('a'), query.get('b')].map(id => api.get(api.idOf(id)))).then(([a, b]) => ({ as: 'text', left: a.text || '', right: b.text || '', names: [String(a.id), String(b.id)] })), 'stored');
  main.append(inputs());
}
const answer = async main => (await import('./answer.js')).answer(main);
// Two things that are known by name: fetched, compared, shown.
async function open(main, pair, name) {
  main.append(skeleton(8));
  try { take(await pair, name); await judge(); main.replaceChildren(); await answer(main); }
  catch (error) { main.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }, rerender)); }
}
function take(pair, name) {
  Object.assign(state, { left: pair.left, right: pair.right, names: [...pair.names], as: pair.as, sample: name, ignore: [], method: 'all', found: null });
}
// The answer of the service to what is in the two panes, with what does not count.
export async function judge() { state.found = { result: await api.compare(state) }; }

function inputs() {
  const trouble = h('div.trouble');
  const failed = error => trouble.replaceChildren(problem(error.code ? error : { code: 'page', message: String(error) }));
  const pane = (side, label) => {
    const place = side === 'left' ? 0 : 1;
    const area = h('textarea', { id: 'in-' + side, value: state[side], placeholder: t('paste'), spellcheck: false, lang: langOf(state[side] || (settings.lang === 'zh' ? '中' : '')), oninput: event => { state[side] = event.target.value; state.names[place] = 'AB'[place]; size(); } });
    const count = h('span.soft.num');
    const size = () => count.textContent = state[side] ? t('chars', { n: num([...state[side]].length) }) : '';
    const read = async ([file]) => {
      try {
        count.textContent = t('loading'); const found = await api.readFile(file);
        state.names[place] = found.name; area.value = state[side] = found.html || found.text; if (found.html) kind('page'); size(); trouble.replaceChildren(...found.notes.map(note => h('p.soft', note)));
      } catch (error) { size(); failed(error); }
    };
    const file = h('input', { type: 'file', class: 'sr', onchange: event => event.target.files.length && read([...event.target.files]) });
    size();
    return drop(h('div.pane', h('div.pane-head', h('label', { for: 'in-' + side }, h('b.ab', side === 'left' ? 'A' : 'B'), ' ', label), count,
      h('label.link.file', file, t('choose'))), area), read);
  };
  const picker = h('div'), kind = value => { state.as = value; picker.replaceChildren(segmented(t('as'), [['text', t('text')], ['code', t('code')], ['page', t('page')], ['record', t('record')]], state.as, key => state.as = key)); };
  kind(state.as);
  const address = text => /^\s*https?:\/\/\S+\s*$/.test(text);
  const run = async () => {
    trouble.replaceChildren(skeleton(5));
    try {
      for (const [place, side] of ['left', 'right'].entries()) if (address(state[side])) { const found = await api.fetchPage(state[side].trim()); state.names[place] = found.name; state[side] = found.html || found.text; state.as = 'page'; }
      await judge(); state.sample = 'own'; location.hash === '#/compare?sample=own' ? rerender() : location.hash = '#/compare?sample=own';
    } catch (error) { failed(error); }
  };
  return h('section.start', { onkeydown: event => { if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) run(); } },
    h('h1', t('c_title')), h('p.lead', t('c_lead')),
    h('div.panes', pane('left', t('left')), pane('right', t('right'))),
    h('div.row', h('button.primary', { onclick: run }, t('run'), h('kbd', 'Ctrl ↵')), picker,
      (state.left || state.right) && h('button', { onclick: () => { const old = { ...state }; Object.assign(state, { left: '', right: '', names: ['A', 'B'], found: null }); rerender(); toast(t('clear'), () => { Object.assign(state, old); rerender(); }); } }, t('clear'))),
    trouble,
    h('div.examples', h('h2', t('examples')), ['zh', 'en', 'code', 'page', 'record', 'script'].map(name => h('a.example', { href: '#/compare?sample=' + name }, t('ex_' + name)))));
}
const rerender = () => dispatchEvent(new Event('hashchange'));
