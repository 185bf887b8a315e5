/**
 * Conditions as an editable tree. It mirrors the JSON, so that every condition survives being read and printed; unknown parts are
 * preserved.
 */
import { isList, isObject, type Json, type JsonObject } from './json.ts';

export type FilterNode =
  /** `key` is null if the children are the keys of one object. */
  | { readonly kind: 'all'; readonly key: string | null; readonly children: readonly FilterNode[] }
  | { readonly kind: 'any'; readonly key: string; readonly children: readonly FilterNode[] }
  | { readonly kind: 'not'; readonly key: string; readonly child: FilterNode }
  | { readonly kind: 'exists'; readonly key: string; readonly table: Json; readonly child: FilterNode; readonly rest: JsonObject }
  /** `operator` is null for a bare value, which means equality. */
  | { readonly kind: 'test'; readonly column: string; readonly tests: readonly (readonly [operator: string | null, value: Json])[] }
  | { readonly kind: 'relation'; readonly name: string; readonly child: FilterNode }
  | { readonly kind: 'raw'; readonly key: string | null; readonly json: Json };

export const ANYTHING: FilterNode = { kind: 'all', key: null, children: [] };

const LOGICAL = /^[_$](?:and|or|not|exists)$/;

export function readFilter(json: Json): FilterNode {
  if (!isObject(json)) return { kind: 'raw', key: null, json };
  const entries = Object.entries(json).map(([key, value]) => readEntry(key, value));
  const [only] = entries;
  return entries.length === 1 && only !== undefined ? only : { kind: 'all', key: null, children: entries };
}

function readEntry(key: string, value: Json): FilterNode {
  const raw: FilterNode = { kind: 'raw', key, json: value };
  switch (key.replace(/^\$/, '_')) {
    case '_and':
      return isList(value) ? { kind: 'all', key, children: value.map(readFilter) } : raw;
    case '_or':
      return isList(value) ? { kind: 'any', key, children: value.map(readFilter) } : raw;
    case '_not':
      return isObject(value) ? { kind: 'not', key, child: readFilter(value) } : raw;
    case '_exists': {
      if (!isObject(value)) return raw;
      const { _table: table, _where: where, ...rest } = value;
      return table === undefined || !isObject(where) ? raw : { kind: 'exists', key, table, child: readFilter(where), rest };
    }
    default:
  }
  if (/^[_$]/.test(key) || key.endsWith('_aggregate')) return raw;
  if (!isObject(value)) return { kind: 'test', column: key, tests: [[null, value]] };
  const keys = Object.keys(value);
  if (keys.length > 0 && keys.every((each) => /^[_$]/.test(each) && !LOGICAL.test(each))) {
    return { kind: 'test', column: key, tests: Object.entries(value) };
  }
  return { kind: 'relation', name: key, child: readFilter(value) };
}

/** Prints a tree. Keys that one object cannot hold go into a list of `_and`. */
export function printFilter(node: FilterNode): Json {
  switch (node.kind) {
    case 'all': {
      const parts = node.children.map(printFilter);
      if (node.key !== null) return { [node.key]: parts };
      const keys = parts.flatMap((part) => (isObject(part) ? Object.keys(part) : ['']));
      const fits = parts.every((part) => isObject(part) && Object.keys(part).length === 1) && new Set(keys).size === keys.length;
      return fits ? Object.assign({}, ...(parts as readonly JsonObject[])) : { _and: parts };
    }
    case 'any':
      return { [node.key]: node.children.map(printFilter) };
    case 'not':
      return { [node.key]: printFilter(node.child) };
    case 'exists':
      return { [node.key]: { _table: node.table, _where: printFilter(node.child), ...node.rest } };
    case 'test': {
      const [only] = node.tests;
      if (node.tests.length === 1 && only !== undefined && only[0] === null) return { [node.column]: only[1] };
      return { [node.column]: Object.fromEntries(node.tests.map(([operator, value]) => [operator ?? '_eq', value])) };
    }
    case 'relation':
      return { [node.name]: printFilter(node.child) };
    case 'raw':
      return node.key === null ? node.json : { [node.key]: node.json };
  }
}

export function childrenOf(node: FilterNode): readonly FilterNode[] {
  if (node.kind === 'all' || node.kind === 'any') return node.children;
  if (node.kind === 'not' || node.kind === 'exists' || node.kind === 'relation') return [node.child];
  return [];
}

/** Puts a group around a node. */
export function wrapped(node: FilterNode, around: 'all' | 'any' | 'not'): FilterNode {
  if (around === 'not') return { kind: 'not', key: '_not', child: node };
  const children = node.kind === 'all' && node.key === null ? node.children : [node];
  return around === 'all' ? { kind: 'all', key: '_and', children } : { kind: 'any', key: '_or', children };
}

/** Joins the same children in another way. */
export function switched(node: FilterNode, to: 'all' | 'any' | 'not'): FilterNode {
  const children = node.kind === 'not' ? (node.child.kind === 'all' ? node.child.children : [node.child]) : childrenOf(node);
  if (to === 'any') return { kind: 'any', key: '_or', children };
  const all: FilterNode = { kind: 'all', key: children.length === 0 ? null : '_and', children };
  const [only] = children;
  if (to === 'not') return { kind: 'not', key: '_not', child: children.length === 1 && only !== undefined ? only : all };
  return all;
}

/** Returns the children of a node in its place; undefined if it has none. */
export function unwrapped(node: FilterNode): FilterNode | undefined {
  const children = childrenOf(node);
  const [only] = children;
  if (only === undefined) return undefined;
  return children.length === 1 ? only : { kind: 'all', key: '_and', children };
}

/** Reads a typed value as JSON of the column's type. */
export function valueOfText(text: string, type: string, operator: string): Json {
  if (/^x-svc-/i.test(text)) return text;
  if (operator === '_is_null' || /^bool/.test(type)) return text === 'true' || text === 't';
  if (/^_n?in$/.test(operator) || /^\$n?in$/.test(operator)) {
    const list = text.trim();
    const items = list.startsWith('[') ? list.slice(1, list.endsWith(']') ? -1 : undefined) : list;
    return items
      .split(',')
      .map((item) => item.trim().replace(/^"(.*)"$/, '$1'))
      .filter((item) => item !== '')
      .map((item) => valueOfText(item, type, '_eq'));
  }
  const isNumber = /^(?:int|float|numeric|decimal|double|real|serial|bigint|smallint|money|oid|bigserial|tinyint|mediumint)/i.test(type);
  return isNumber && /^-?\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Prints a value as it is typed. */
export function textOfValue(value: Json): string {
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map(textOfValue).join(', ');
  return value === null ? 'null' : isObject(value) ? JSON.stringify(value) : String(value);
}
