import { describe, expect, it } from 'vitest';
import { testKinds as kinds } from '../../test/support/kinds.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { decodeTables } from './decoded-tables.ts';
import { decodeDocument } from './document.ts';
import { EMPTY_METADATA, type Metadata } from './metadata.ts';
import type { DecodedTables } from './table-caches.ts';

const table = (name: string, columns: Json = '*'): Json => ({
  table: { schema: 'public', name },
  select_permissions: [{ role: 'user', permission: { columns, filter: { id: { _eq: 'X-Svc-User-Id' } } } }],
});
const document = (tables: Json, more: readonly Json[] = []): Json => ({
  version: 3,
  sources: [{ name: 'default', kind: 'pg', tables, configuration: { connection_info: { url: 'x' } } }, ...more],
});
const prepared = (json: Json, current: Metadata = EMPTY_METADATA): { metadata: () => Metadata; steps: number } => {
  const decoded: DecodedTables = new WeakMap();
  let steps = 0;
  for (const _ of decodeTables(json, kinds, current, decoded)) steps += 1;
  return { metadata: () => decodeDocument(json, ROOT, kinds, current, decoded), steps };
};
const error = (run: () => unknown): string => {
  try {
    run();
    return 'none';
  } catch (thrown) {
    return String(thrown);
  }
};

describe('tables that are decoded before their document', () => {
  it('produce the same metadata, in one step per table', () => {
    const json = document([table('a'), table('b')]);
    const { metadata, steps } = prepared(json);
    expect(steps).toBe(2);
    expect(metadata()).toEqual(decodeDocument(json, ROOT, kinds, EMPTY_METADATA));
  });

  it('are replaced by equal current tables', () => {
    const before = decodeDocument(document([table('a'), table('b')]), ROOT, kinds, EMPTY_METADATA);
    const after = prepared(document([table('a'), table('b', ['id'])]), before).metadata();
    const tables = ({ sources }: Metadata) => [...(sources.get('default')?.tables.values() ?? [])];
    expect(tables(after)[0]).toBe(tables(before)[0]);
    expect(tables(after)[1]).not.toEqual(tables(before)[1]);
  });

  it('are decoded next to a source of an unknown kind', () => {
    const json = document([table('b')], [{ name: 'x', kind: 'no', tables: [table('a')] }]);
    const { metadata, steps } = prepared(json);
    expect([steps, [...metadata().unknownSources.keys()]]).toEqual([1, ['x']]);
  });

  it.each<[string, Json]>([
    ['no document', 3],
    ['another version', { version: 2, tables: [] }],
    ['sources that are none', { version: 3, sources: [1] }],
    ['a kind that is none', document([], [{ name: 'x', kind: 1, tables: [table('a')] }])],
    ['a wrong table', document([table('a'), { table: 1 }, { no: 1 }])],
    ['a table twice', document([table('a'), table('a')])],
    ['a list instead of a table', document([[]])],
  ])('%s is found wrong as ever', (_what, json) => {
    const found = error(prepared(json).metadata);
    expect(found).not.toBe('none');
    expect(found).toBe(error(() => decodeDocument(json, ROOT, kinds, EMPTY_METADATA)));
  });
});
