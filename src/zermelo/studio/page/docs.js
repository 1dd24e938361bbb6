/** The OpenAPI document as a page to read: every operation, what it takes and what it answers. */
import { h } from './dom.js';

/** The name of a schema, or its plain type with its bounds. */
function typeOf(schema, parts) {
  if (!schema) return '';
  if (schema.$ref) return schema.$ref.split('/').pop();
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, parts)).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items, parts) || 'anything'}`;
  if (schema.enum || schema.const !== undefined) return (schema.enum ?? [schema.const]).join(' or ');
  return schema.type ?? 'anything';
}

function row(name, schema, isRequired, parts) {
  const note = [schema.description, 'default' in schema && `default ${JSON.stringify(schema.default)}`].filter(Boolean).join('; ');
  return h('tr', {}, h('th', { scope: 'row' }, h('code', {}, name)), h('td', {}, typeOf(schema, parts)),
    h('td', {}, isRequired ? 'required' : ''), h('td', {}, note));
}

function operation(path, method, found, parts) {
  const body = found.requestBody?.content['application/json'].schema;
  const fields = body ? parts[body.$ref.split('/').pop()] : { properties: {} };
  const rows = [
    ...(found.parameters ?? []).map((p) => row(p.name, { description: p.description, ...p.schema }, p.required, parts)),
    ...Object.entries(fields.properties ?? {}).map(([name, schema]) => row(name, schema, fields.required?.includes(name), parts)),
  ];
  const head = ['Name', 'Type', '', 'Note'].map((text) => h('th', { scope: 'col' }, text));
  const answers = Object.entries(found.responses).map(([code, { description }]) => `${code} ${description}`).join(', ');
  return h('section', { class: 'card' }, h('h2', {}, h('code', {}, `${method.toUpperCase()} ${path}`)), h('p', {}, found.description ?? found.summary),
    rows.length > 0 && h('table', {}, h('thead', {}, h('tr', {}, head)), h('tbody', {}, rows)), h('p', { class: 'quiet' }, answers));
}

const { paths, components } = await (await fetch('/api/openapi.json')).json();
document.getElementById('operations').replaceChildren(...Object.entries(paths).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, found]) => operation(path, method, found, components.schemas))));
