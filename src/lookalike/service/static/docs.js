// The description of the interface, for people.
import { h } from './core.js';

const { paths, components } = await (await fetch('openapi.json')).json();
const main = document.querySelector('#main');
const nameOf = schema => schema?.$ref ? schema.$ref.split('/').at(-1) : schema?.anyOf ? schema.anyOf.map(nameOf).join(' or ') : schema?.enum ? schema.enum.map(x => JSON.stringify(x)).join(' | ') : schema?.type === 'array' ? `list of ${nameOf(schema.items)}` : schema?.const !== undefined ? JSON.stringify(schema.const) : schema?.type || 'anything';
const link = schema => schema?.$ref ? h('a', { href: '#' + nameOf(schema) }, nameOf(schema)) : nameOf(schema);
for (const [path, operations] of Object.entries(paths)) for (const [method, operation] of Object.entries(operations)) {
  const asked = Object.entries(operation.requestBody?.content || {})[0], given = Object.entries(operation.responses['200'].content || {})[0];
  main.append(h('section', h('h2', h('code', `${method.toUpperCase()} ${path}`)), h('p', operation.summary),
    h('ul', operation.parameters.filter(each => each.in === 'query').map(each => h('li', h('code', '?' + each.name), ' ', each.description)), asked && h('li', 'asks ', h('code', asked[0]), ' ', link(asked[1].schema)), given && h('li', 'answers ', h('code', given[0]), ' ', link(given[1].schema)))));
}
main.append(h('h1', 'Shapes'), ...Object.entries(components.schemas).map(([name, schema]) => h('section', { id: name }, h('h2', h('code', name)), schema.description && h('p', schema.description),
  h('table.list', h('tbody', Object.entries(schema.properties || {}).map(([field, each]) => h('tr', h('th', { scope: 'row' }, field), h('td', link(each)), h('td.soft', (schema.required || []).includes(field) ? 'required' : each.default === undefined ? '' : `default ${JSON.stringify(each.default)}`))))))));
