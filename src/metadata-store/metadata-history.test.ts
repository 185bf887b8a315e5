import { afterEach, beforeEach, expect, test } from 'vitest';
import { testKinds } from '../../test/support/kinds.ts';
import { diffPieces } from '../../test/support/metadata-pieces.ts';
import { plainSource } from '../../test/support/plain-source.ts';
import { type TestDatabase, testDatabase } from '../../test/support/postgres.ts';
import type { Source } from '../backend/backend.ts';
import { withSource, withTable } from '../metadata/edit.ts';
import { EMPTY_METADATA, type Metadata } from '../metadata/metadata.ts';
import { NO_CUSTOMIZATION } from '../metadata/source.ts';
import { newTable } from '../metadata/table.ts';
import { createMetadataHistory, type MetadataHistory } from './metadata-history.ts';
import { createStorage, type Storage } from './storage.ts';

const ORIGIN = { role: 'admin', user: null, credentials: null, client: null, ip: null, requestId: null, operations: ['track'] };
const SOURCE = withSource(EMPTY_METADATA, {
  name: 's',
  kind: 'pg',
  configuration: { connectionInfo: 1 },
  customization: NO_CUSTOMIZATION,
  tables: new Map(),
  functions: new Map(),
});
const withTables = (metadata: Metadata, ...names: readonly string[]): Metadata =>
  names.reduce((all, name) => withTable(all, 's', newTable({ schema: 'public', name })), metadata);

let database: TestDatabase;
let source: Source;
let storage: Storage;
let history: MetadataHistory;
let stored: { version: number; metadata: Metadata };

beforeEach(async () => {
  database = await testDatabase('ready');
  source = plainSource(database.url);
  storage = createStorage(source, testKinds, { history: { changes: 4, bytes: 2000, bytesOfChange: 1000 } });
  await storage.migrate();
  history = createMetadataHistory(source, testKinds);
  stored = { version: 1, metadata: EMPTY_METADATA };
});
afterEach(async () => {
  await source.close();
  await database.drop();
});

async function save(metadata: Metadata): Promise<number> {
  const changes = diffPieces(stored.metadata, metadata, testKinds);
  const version = await storage.save({ expectedVersion: stored.version, changes, instanceId: 'one', origin: ORIGIN });
  stored = { version, metadata };
  return version;
}

const versions = async (): Promise<readonly number[]> =>
  (await history.list({ limit: 100 })).changes.map(({ resourceVersion }) => resourceVersion);
const sizes = async (): Promise<readonly number[]> =>
  (await source.query('select size from svc_catalog.metadata_history', [])).rows.map(([size]) => Number(size));

test('keeps the newest changes, limited by number', async () => {
  const all: Metadata[] = [SOURCE];
  for (const name of ['a', 'b', 'c', 'd', 'e']) all.push(withTables(all.at(-1) ?? SOURCE, name));
  for (const metadata of all) await save(metadata);
  expect(await versions()).toEqual([7, 6, 5, 4]);
  // Version 3 is what the oldest change began with.
  for (const version of [3, 4, 5, 6, 7]) expect(await history.metadataAt(version)).toEqual(all[version - 2]);
  await expect(history.metadataAt(2)).rejects.toMatchObject({ code: 'not-exists' });
  await expect(history.metadataAt(8)).rejects.toMatchObject({ code: 'not-exists' });
  await expect(history.objectsOf(3)).rejects.toMatchObject({ code: 'not-exists' });
});

test('keeps the newest changes, limited by bytes', async () => {
  await save(SOURCE);
  const many = ['t1', 't2', 't3', 't4', 't5'];
  await save(withTables(SOURCE, ...many));
  await save(SOURCE);
  await save(withTables(SOURCE, ...many));
  expect((await sizes()).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2000);
  // Authors outlive objects.
  const { changes, completeSince } = await history.list({ limit: 100 });
  expect(changes.map(({ resourceVersion }) => resourceVersion)).toEqual([5, 4, 3, 2]);
  expect(changes.every(({ origin }) => origin?.role === 'admin')).toBe(true);
  const kept = changes.filter(({ hasObjects }) => hasObjects).map(({ resourceVersion }) => resourceVersion);
  expect(kept).toEqual([5, 4].slice(0, kept.length));
  expect(kept.length).toBeGreaterThan(0);
  const rows = await source.query('select distinct resource_version from svc_catalog.metadata_history_object order by 1 desc', []);
  expect(rows.rows.map(([version]) => Number(version))).toEqual(kept);
  const oldest = kept.at(-1) ?? 0;
  expect(completeSince).toBe(oldest - 1);
  expect(await history.metadataAt(oldest - 1)).toEqual(oldest === 5 ? SOURCE : withTables(SOURCE, ...many));
  await expect(history.metadataAt(oldest - 2)).rejects.toMatchObject({ code: 'not-exists' });
  await expect(history.objectsOf(2)).rejects.toMatchObject({ code: 'not-supported' });
});

test('records a change that is too large without its objects, and restores nothing from before it', async () => {
  await save(SOURCE);
  const large = await save(withTables(SOURCE, ...Array.from({ length: 20 }, (_, i) => `t${i}`)));
  expect((await history.list({ limit: 1 })).changes[0]).toMatchObject({
    resourceVersion: large,
    objectCount: 20,
    hasObjects: false,
    objects: [],
  });
  await expect(history.objectsOf(large)).rejects.toMatchObject({ code: 'not-supported' });
  await expect(history.metadataAt(large - 1)).rejects.toMatchObject({ code: 'not-exists' });
  expect(await history.metadataAt(large)).toEqual(stored.metadata);
});

test('records nothing if the change fails, or changes no object', async () => {
  await save(SOURCE);
  const changes = diffPieces(SOURCE, withTables(SOURCE, 'a'), testKinds);
  const failing = { expectedVersion: 2, changes, instanceId: 'one', origin: ORIGIN };
  await expect(storage.save({ ...failing, inTransaction: () => Promise.reject(new Error('failed')) })).rejects.toThrow('failed');
  await expect(storage.save({ ...failing, expectedVersion: 1 })).rejects.toMatchObject({ code: 'conflict' });
  await save(SOURCE);
  expect(await versions()).toEqual([2]);
  expect(await history.metadataAt(2)).toEqual(SOURCE);
});

test('records the time of the change, not that of the begin of its transaction', async () => {
  const time = async (): Promise<number> => Number((await source.query('select extract(epoch from clock_timestamp())', [])).rows[0]?.[0]);
  let begun = 0;
  const changes = diffPieces(EMPTY_METADATA, SOURCE, testKinds);
  const inTransaction = async (): Promise<void> => {
    begun = await time();
  };
  await storage.save({ expectedVersion: 1, changes, instanceId: 'one', origin: ORIGIN, inTransaction });
  const { rows } = await source.query('select extract(epoch from changed_at) from svc_catalog.metadata_history', []);
  expect(Number(rows[0]?.[0])).toBeGreaterThanOrEqual(begun);
});

test('cuts long texts of clients', async () => {
  const changes = diffPieces(EMPTY_METADATA, SOURCE, testKinds);
  const client = 'x'.repeat(10_000);
  await storage.save({ expectedVersion: 1, changes, instanceId: 'one', origin: { ...ORIGIN, client } });
  expect((await history.list({ limit: 1 })).changes[0]?.origin?.client).toBe('x'.repeat(200));
});
