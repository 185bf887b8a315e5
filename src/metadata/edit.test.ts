import { expect, test } from 'vitest';
import { nameKey } from '../catalog/catalog.ts';
import { testKind } from '../../test/support/kinds.ts';
import * as edit from './edit.ts';
import { newFunction } from './function.ts';
import { requireFunction, requireSource, requireSourceOfKind, requireTable } from './lookup.ts';
import { EMPTY_METADATA, type SourceMetadata } from './metadata.ts';
import { shareUnchanged } from './share.ts';
import { NO_CUSTOMIZATION } from './source.ts';
import { newTable } from './table.ts';

const name = (text: string) => ({ schema: 'public', name: text });
const key = (text: string) => nameKey(name(text));
const source = (text: string): SourceMetadata => ({
  name: text,
  kind: 'pg',
  configuration: {},
  customization: NO_CUSTOMIZATION,
  tables: new Map(),
  functions: new Map(),
});

const base = ['a', 'b'].reduce(
  (metadata, table) => edit.withTable(metadata, 's', newTable(name(table))),
  edit.withSource(edit.withSource(EMPTY_METADATA, source('s')), source('other')),
);

test('an edit shares unchanged objects and does not change its input', () => {
  const after = edit.updateTable(base, 's', key('a'), (table) => ({ ...table, isEnum: true }));
  expect(after.sources.get('s')?.tables.get(key('a'))?.isEnum).toBe(true);
  expect(base.sources.get('s')?.tables.get(key('a'))?.isEnum).toBe(false);
  expect(after.sources.get('s')?.tables.get(key('b'))).toBe(base.sources.get('s')?.tables.get(key('b')));
  expect(after.sources.get('other')).toBe(base.sources.get('other'));
  expect(after.inheritedRoles).toBe(base.inheritedRoles);
});

test('an edit that changes nothing returns its input', () => {
  expect(edit.updateTable(base, 's', key('a'), (table) => table)).toBe(base);
  expect(edit.withoutTable(base, 's', key('none'))).toBe(base);
  expect(edit.withoutFunction(base, 's', key('none'))).toBe(base);
  expect(edit.withoutSource(base, 'none')).toBe(base);
});

test('adds and removes tables and functions', () => {
  const tracked = edit.withFunction(edit.withoutTable(base, 's', key('a')), 's', newFunction(name('f')));
  expect([...(tracked.sources.get('s')?.tables.keys() ?? [])]).toEqual([key('b')]);
  const commented = edit.updateFunction(tracked, 's', key('f'), (fn) => ({ ...fn, comment: 'c' }));
  expect(commented.sources.get('s')?.functions.get(key('f'))?.comment).toBe('c');
  expect(edit.withoutFunction(commented, 's', key('f')).sources.get('s')?.functions.size).toBe(0);
});

test('a renamed source keeps everything else', () => {
  const after = edit.renameSource(base, 's', 'new');
  expect([...after.sources.keys()].sort()).toEqual(['new', 'other']);
  expect(after.sources.get('new')).toEqual({ ...base.sources.get('s'), name: 'new' });
  expect(() => edit.renameSource(base, 'none', 'new')).toThrow('Could not find source with name "none"');
  expect(() => edit.renameSource(base, 's', 'other')).toThrow('Source with name "other" already exists');
});

test('looking up a missing object throws an error with its name', () => {
  expect(() => requireSource(base, 'x')).toThrow('source with name "x" does not exist');
  expect(() => requireSourceOfKind(base, 's', 'dwh')).toThrow(
    'source with name "s" has backend type "pg" which does not match the expected type "dwh"',
  );
  const found = requireSourceOfKind(base, 's', 'pg');
  expect(requireTable(found, name('a'), testKind).table).toEqual(name('a'));
  expect(() => requireTable(found, name('t'), testKind)).toThrow('table "t" does not exist in source: s');
  expect(() => requireTable(found, { schema: 'x', name: 't' }, testKind)).toThrow('table "x.t" does not exist in source: s');
  expect(() => requireFunction(found, name('f'), testKind)).toThrow('function "f" does not exist in source: s');
});

test('an equal value is replaced by the current one, part by part', () => {
  const copy = structuredClone(base);
  expect(shareUnchanged(base, copy)).toBe(base);
  const changed = edit.updateTable(copy, 's', key('a'), (table) => ({ ...table, isEnum: true }));
  const shared = shareUnchanged(base, changed);
  expect(shared).toEqual(changed);
  expect(shared.sources.get('s')?.tables.get(key('b'))).toBe(base.sources.get('s')?.tables.get(key('b')));
  expect(shared.sources.get('other')).toBe(base.sources.get('other'));
  expect(shareUnchanged<object>({ a: 1, b: 2 }, { a: 1 })).toEqual({ a: 1 });
  expect(shareUnchanged<object>({ a: undefined }, { b: undefined })).toEqual({ b: undefined });
});
