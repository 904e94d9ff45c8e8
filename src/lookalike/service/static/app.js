// Shell: routes, header, commands, keys.
import { h, s, $, $$, t, settings, set, apply, dialog, problem } from './core.js';
import { token } from './api.js';
import * as compare from './compare.js';

const views = { compare: () => compare, search: () => import('./search.js'), library: () => import('./library.js'), feedback: () => import('./feedback.js') };
const names = Object.keys(views);
const override = new URLSearchParams(location.search);
if (override.get('lang')) settings.lang = override.get('lang');
if (override.get('theme')) settings.theme = override.get('theme');
apply();

let current = compare, where = 'compare';
async function route() {
  const [path, search] = (location.hash.slice(2) || 'compare').split('?'), [name, ...rest] = path.split('/');
  if (location.hash === '#main') return;
  where = views[name] ? name : 'compare';
  current = await views[where]();
  header(); document.title = `${t(where)} · Lookalike`;
  const main = $('#main'); main.replaceChildren(); main.className = 'v-' + where;
  const mine = ++routed;
  try { await current.render(main, new URLSearchParams(search), rest); }
  catch (error) { if (mine === routed) main.replaceChildren(error.status === 401 ? tokenForm() : problem(error.code ? error : { code: 'page', message: String(error) }, route)); }
}
// A service with tokens asks for one; it stays in this tab.
function tokenForm() {
  const field = h('input', { type: 'password', 'aria-label': t('token'), autocomplete: 'off' });
  return h('form.empty', { onsubmit: event => { event.preventDefault(); token.set(field.value.trim()); route(); } }, h('p', h('b', t('token'))), h('p.soft', t('token_')), h('p.row', field, h('button.primary', t('go'))));
}
let routed = 0;
function header() {
  $('[data-t=skip]').textContent = t('skip');
  const icons = { compare: 'M3 4h6v12H3zM11 4h6v12h-6z', search: 'M9 3a6 6 0 104 10.5L17 17M9 3a6 6 0 014 10.5', library: 'M4 4v12M8 4v12M11.500 4.500l4 11', feedback: 'M4 16v-5M8 16V7M12 16v-7M16 16V4' };
  $('header.top').replaceChildren(
    h('a.brand', { href: '#/compare', 'aria-label': 'Lookalike' }, s('svg', { viewBox: '0 0 28 20', 'aria-hidden': 'true' }, s('circle', { cx: 10, cy: 10, r: 7 }), s('circle', { cx: 18, cy: 10, r: 7 })), h('span', 'Lookalike')),
    h('nav', { 'aria-label': 'Lookalike' }, names.map(name => h('a', { href: '#/' + name, 'aria-current': name === where ? 'page' : null }, s('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, s('path', { d: icons[name] })), h('span', t(name))))),
    h('div.tools',
      h('button.quiet.wide-only', { onclick: palette }, t('commands'), h('kbd', 'Ctrl K')),
      h('button.quiet', { lang: settings.lang === 'zh' ? 'en' : 'zh-CN', onclick: () => { set('lang', settings.lang === 'zh' ? 'en' : 'zh'); route(); } }, settings.lang === 'zh' ? 'English' : '中文'),
      h('button.quiet.icon', { 'aria-label': `${t('theme')}: ${t(settings.theme)}`, title: `${t('theme')}: ${t(settings.theme)}`, onclick: theme }, s('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, s('circle', { cx: 10, cy: 10, r: 6.5 }), s('path.solid', { d: 'M10 3.500a6.500 6.500 0 010 13z' }))),
      h('button.quiet.icon.wide-only', { 'aria-label': t('keys'), title: t('keys') + ' (?)', onclick: help }, '?')));
}
function theme() {
  const order = ['auto', 'light', 'dark']; set('theme', order[(order.indexOf(settings.theme) + 1) % 3]); header(); $('.tools [title^="' + t('theme') + '"]').focus();
}
const KEYS = [['1…4 Alt', 'k_view'], ['n p', 'k_change'], ['1 2 3 4', 'k_kind'], ['x', 'k_swap'], ['i', 'k_inline'], ['u', 'k_fold'], ['↑ ↓', 'k_list'], ['↵', 'k_open'], ['/', 'k_find'], ['Ctrl ↵', 'k_run'], ['Ctrl K', 'k_palette'], ['Esc', 'k_esc'], ['?', 'k_help']];
function help() {
  if ($('dialog[open]')) return;
  dialog(t('keys'), h('dl.keys', KEYS.map(([keys, text]) => h('div', h('dt', (keys === '1…4 Alt' ? ['Alt', '1…4'] : keys.split(' ')).map(key => h('kbd', key))), h('dd', t(text))))));
}
function palette() {
  if ($('dialog[open]')) return;
  const go = hash => () => { location.hash = hash; };
  const all = [...names.map(name => [t(name), go('#/' + name)]), ...['clusters', 'matrix'].map(name => [`${t('library')}: ${t(name)}`, go('#/library/' + name)]),
    ...['zh', 'en', 'code', 'page', 'record', 'script'].map(name => [`${t('examples')}: ${t('ex_' + name)}`, go('#/compare?sample=' + name)]),
    [t('swap'), () => current.keys?.x?.()], ...['auto', 'light', 'dark'].map(name => [`${t('theme')}: ${t(name)}`, () => { set('theme', name); header(); }]),
    ['English', () => { set('lang', 'en'); route(); }], ['中文', () => { set('lang', 'zh'); route(); }], [t('keys'), help]];
  const list = h('ul', { role: 'listbox', id: 'commands', 'aria-label': t('commands') });
  let at = 0, shown = [];
  const fill = text => {
    shown = all.filter(([name]) => name.toLowerCase().includes(text.toLowerCase())); at = 0;
    list.replaceChildren(...shown.map(([name, run], i) => h('li', { role: 'option', id: 'command-' + i, 'aria-selected': String(i === 0), onclick: () => pick(i), onpointermove: () => move(i) }, name)));
  };
  const move = i => { at = i; $$('li', list).forEach((li, k) => li.setAttribute('aria-selected', String(k === i))); input.setAttribute('aria-activedescendant', 'command-' + i); $$('li', list)[i]?.scrollIntoView({ block: 'nearest' }); };
  const pick = i => { el.close(); shown[i]?.[1](); };
  const input = h('input', { type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'commands', 'aria-label': t('commands'), placeholder: t('commands'), oninput: event => fill(event.target.value), onkeydown: event => {
    if (event.key === 'ArrowDown') { event.preventDefault(); move((at + 1) % shown.length); } else if (event.key === 'ArrowUp') { event.preventDefault(); move((at - 1 + shown.length) % shown.length); } else if (event.key === 'Enter') { event.preventDefault(); pick(at); }
  } });
  const el = dialog(t('commands'), [input, list]); el.classList.add('palette'); fill(''); input.focus();
}
addEventListener('keydown', event => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') { event.preventDefault(); return palette(); }
  if (event.altKey && /^[1-4]$/.test(event.key)) { event.preventDefault(); location.hash = '#/' + names[event.key - 1]; return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input:not([type=radio], [type=range], [type=checkbox]), textarea, select') || $('dialog[open]')) return;
  if (event.key === '?') return help();
  const act = current.keys?.[event.key];
  if (act) { event.preventDefault(); act(); }
});
addEventListener('hashchange', route);
route();
