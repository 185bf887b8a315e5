import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as arbitrary from '../../test/support/arbitrary-metadata.ts';
import { testKinds } from '../../test/support/kinds.ts';
import { nameKey } from '../catalog/catalog.ts';
import type { Json } from '../util/json.ts';
import { renameSource, updateSource, updateTable, withoutTable, withSource, withTable } from './edit.ts';
import { EMPTY_METADATA, metadataCodec, type SourceMetadata, unknownSection } from './metadata.ts';
import { applyPieces, fromPieces, type MetadataPiece } from './pieces.ts';
import { diffPieces, toPieces } from '../../test/support/metadata-pieces.ts';
import { ROOT } from '../util/path.ts';
import { shareUnchanged } from './share.ts';
import { NO_CUSTOMIZATION } from './source.ts';
import { newTable } from './table.ts';
import { runs } from '../../test/support/deep.ts';

test('a document is the sum of its pieces, in any order', () => {
  fc.assert(
    fc.property(arbitrary.metadata, (metadata) => {
      const pieces = toPieces(metadata, testKinds);
      expect(fromPieces(pieces, testKinds)).toEqual(metadata);
      expect(fromPieces([...pieces].reverse(), testKinds)).toEqual(metadata);
      expect(new Set(pieces.map((piece) => JSON.stringify([piece.kind, piece.source, piece.key]))).size).toBe(pieces.length);
    }),
    runs(100, 25),
  );
});

test('a document that is added to a collection leaves the others the same objects', () => {
  const collection = (...names: string[]): MetadataPiece => ({
    kind: 'query_collection',
    source: '',
    key: 'web',
    json: { name: 'web', definition: { queries: names.map((name) => ({ name, query: `query ${name} { a }` })) } },
  });
  const before = fromPieces([collection('a', 'b')], testKinds);
  const after = applyPieces(before, [collection('a', 'c')], testKinds);
  const [old, now] = [before, after].map(({ queryCollections }) => queryCollections.get('web')?.queries);
  expect([...(now?.keys() ?? [])]).toEqual(['a', 'c']);
  expect(now?.get('a')).toBe(old?.get('a'));
});

test('the difference of two documents turns one into the other', () => {
  fc.assert(
    fc.property(arbitrary.metadata, arbitrary.metadata, (before, other) => {
      // Half of the document stays, as in real edits.
      const after = shareUnchanged(before, {
        ...before,
        sources: new Map([...before.sources].slice(1).concat([...other.sources])),
        network: other.network,
        unknownKeys: other.unknownKeys,
      });
      const changes = diffPieces(before, after, testKinds);
      expect(applyPieces(before, changes, testKinds)).toEqual(after);
      expect(diffPieces(after, after, testKinds)).toEqual([]);
    }),
    runs(100, 25),
  );
});

const name = (text: string) => ({ schema: 'public', name: text });
const source: SourceMetadata = {
  name: 's',
  kind: 'pg',
  configuration: { connectionInfo: 1 },
  customization: NO_CUSTOMIZATION,
  tables: new Map(),
  functions: new Map(),
};
const base = withTable(withTable(withSource(EMPTY_METADATA, source), 's', newTable(name('a'))), 's', newTable(name('b')));
const keysOf = (changes: readonly MetadataPiece[]) =>
  changes.map(({ kind, source: of, key, json }) => `${json === null ? '-' : '+'} ${kind} ${of} ${key}`);

test('a change of one object is one piece', () => {
  const commented = updateTable(base, 's', nameKey(name('a')), (table) => ({ ...table, isEnum: true }));
  expect(keysOf(diffPieces(base, commented, testKinds))).toEqual(['+ table s ["public","a"]']);
  expect(keysOf(diffPieces(base, withoutTable(base, 's', nameKey(name('a'))), testKinds))).toEqual(['- table s ["public","a"]']);
  expect(
    keysOf(
      diffPieces(
        base,
        updateSource(base, 's', (entry) => ({ ...entry, customization: { rootFields: {}, typeNames: { prefix: 'p' } } })),
        testKinds,
      ),
    ),
  ).toEqual(['+ source s ']);
  expect(keysOf(diffPieces(base, { ...base, introspection: { disabledForRoles: ['r'] } }, testKinds))).toEqual([
    '+ section  graphql_schema_introspection',
  ]);
  const limited = { ...base, apiLimits: { disabled: false, depthLimit: { global: 5, perRole: new Map() } } };
  expect(keysOf(diffPieces(base, limited, testKinds))).toEqual(['+ section  api_limits']);
  expect(keysOf(diffPieces(limited, base, testKinds))).toEqual(['- section  api_limits']);
  const reachable = { ...base, network: { tlsAllowlist: new Map([['h', { host: 'h', suffix: null, permissions: null }]]) } };
  expect(keysOf(diffPieces(base, reachable, testKinds))).toEqual(['+ section  network']);
  expect(keysOf(diffPieces(reachable, base, testKinds))).toEqual(['- section  network']);
  const actions: Json = [{ name: 'a' }];
  expect(keysOf(diffPieces(base, { ...base, unknownKeys: [unknownSection('actions', actions)] }, testKinds))).toEqual([
    '+ section  actions',
  ]);
});

test('applying a change shares unchanged objects', () => {
  const after = updateTable(base, 's', nameKey(name('a')), (table) => ({ ...table, isEnum: true }));
  const applied = applyPieces(base, diffPieces(base, after, testKinds), testKinds);
  expect(applied.sources.get('s')?.tables.get(nameKey(name('b')))).toBe(base.sources.get('s')?.tables.get(nameKey(name('b'))));
  expect(applied.sources.get('s')?.configuration).toBe(source.configuration);
  expect(applied.unknownKeys).toBe(base.unknownKeys);
  const reconfigured = applyPieces(
    base,
    diffPieces(
      base,
      updateSource(base, 's', (entry) => ({ ...entry, configuration: { connectionInfo: 2 } })),
      testKinds,
    ),
    testKinds,
  );
  expect(reconfigured.sources.get('s')?.tables).toBe(base.sources.get('s')?.tables);
});

test('a renamed source moves with all its pieces', () => {
  const after = renameSource(base, 's', 't');
  expect(keysOf(diffPieces(base, after, testKinds)).sort()).toEqual([
    '+ source t ',
    '+ table t ["public","a"]',
    '+ table t ["public","b"]',
    '- source s ',
    '- table s ["public","a"]',
    '- table s ["public","b"]',
  ]);
});

test('a source that was stored before its kind was supported says how to load it', () => {
  const json = { name: 's', kind: 'pg', tables: [], configuration: { connection_info: 1 } };
  const unknown = fromPieces([{ kind: 'unknown_source', source: '', key: 's', json }], testKinds);
  expect(unknown.unknownSources.get('s')?.problem).toContain('import them again');
  const loaded = metadataCodec(testKinds).decode(metadataCodec(testKinds).encode(unknown), ROOT);
  expect([[...loaded.sources.keys()], loaded.unknownSources.size]).toEqual([['s'], 0]);
});

test('rejects a piece of a missing source', () => {
  expect(() => fromPieces([{ kind: 'table', source: 'x', key: '["public","a"]', json: { table: 'a' } }], testKinds)).toThrow(
    'unknown source "x"',
  );
});
