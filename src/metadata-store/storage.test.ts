import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as arbitrary from '../../test/support/arbitrary-metadata.ts';
import { testKinds } from '../../test/support/kinds.ts';
import { plainSource } from '../../test/support/plain-source.ts';
import { type TestDatabase, testDatabase } from '../../test/support/postgres.ts';
import type { Source, TransactionOptions } from '../backend/backend.ts';
import { nameKey } from '../catalog/catalog.ts';
import { updateTable, withoutTable, withSource, withTable } from '../metadata/edit.ts';
import { EMPTY_METADATA, type Metadata, metadataCodec } from '../metadata/metadata.ts';
import { applyPieces } from '../metadata/pieces.ts';
import { diffPieces } from '../../test/support/metadata-pieces.ts';
import { NO_CUSTOMIZATION } from '../metadata/source.ts';
import { newTable } from '../metadata/table.ts';
import { type Json, JsonNumber, printJson } from '../util/json.ts';
import { WITHOUT_HISTORY } from '../../test/support/old-catalogs.ts';
import { CATALOG_VERSION, migrate } from './migrations.ts';
import { type Announcement, createStorage, METADATA_CHANNEL, type Storage } from './storage.ts';
import { runs } from '../../test/support/deep.ts';
import type { RunOptions } from '../backend/connection.ts';

const name = (text: string) => ({ schema: 'public', name: text });
const key = (text: string) => nameKey(name(text));
const withSourceS = withSource(EMPTY_METADATA, {
  name: 's',
  kind: 'pg',
  configuration: { connectionInfo: 1 },
  customization: NO_CUSTOMIZATION,
  tables: new Map(),
  functions: new Map(),
});
const tracked = ['a', 'b'].reduce((metadata, table) => withTable(metadata, 's', newTable(name(table))), withSourceS);
const setEnum = (metadata: Metadata, table: string) =>
  updateTable(metadata, 's', key(table), (entry) => ({ ...entry, isEnum: !entry.isEnum }));

let database: TestDatabase;
let source: Source;
let storage: Storage;

/** Saves the difference of two documents. */
function save(version: number, before: Metadata, after: Metadata, extra: object = {}): Promise<number> {
  return storage.save({ expectedVersion: version, changes: diffPieces(before, after, testKinds), instanceId: 'one', ...extra });
}

beforeEach(async () => {
  database = await testDatabase('ready');
  source = plainSource(database.url);
  storage = createStorage(source, testKinds, { keptVersions: 64, keptRemovals: 100 });
  await storage.migrate();
});

afterEach(async () => {
  await source.close();
  await database.drop();
});

test('creates an empty catalog with a version', async () => {
  expect(await storage.load()).toEqual({ resourceVersion: 1, metadata: EMPTY_METADATA });
  expect(await storage.currentVersion()).toBe(1);
});

test('loads saved metadata', async () => {
  expect(await save(1, EMPTY_METADATA, tracked)).toBe(2);
  expect(await storage.load()).toEqual({ resourceVersion: 2, metadata: tracked });
  const fewer = withoutTable(tracked, 's', key('a'));
  await save(2, tracked, fewer);
  expect(await storage.load()).toEqual({ resourceVersion: 3, metadata: fewer });
  await save(3, fewer, tracked);
  expect(await storage.load()).toEqual({ resourceVersion: 4, metadata: tracked });
});

test('loads any document as it was saved', async () => {
  let version = 1;
  let before = EMPTY_METADATA;
  await fc.assert(
    fc.asyncProperty(arbitrary.metadata, async (metadata) => {
      version = await save(version, before, metadata);
      before = metadata;
      expect((await storage.load()).metadata).toEqual(metadata);
    }),
    runs(30, 4),
  );
});

test('preserves texts and numbers that the database would change', async () => {
  const filter = {
    a: { _eq: 'nul \u0000, half \ud800, "quotes" \\u0000' },
    b: { _eq: new JsonNumber('1.10') },
    c: { _eq: new JsonNumber('1e400') },
  };
  const permission = { role: 'r', permission: { columns: '*' as const, computedFields: [], filter, allowAggregations: false } };
  const after = updateTable(tracked, 's', key('a'), (table) => ({ ...table, selectPermissions: new Map([['r', permission]]) }));
  await save(1, EMPTY_METADATA, after);
  expect((await storage.load()).metadata).toEqual(after);
});

test('refuses a change based on an old version as a conflict', async () => {
  await save(1, EMPTY_METADATA, tracked);
  await expect(save(1, tracked, setEnum(tracked, 'a'))).rejects.toMatchObject({
    code: 'conflict',
    status: 409,
    printedPath: '$',
    message: 'metadata resource version referenced (1) did not match current version',
  });
  expect(await storage.load()).toEqual({ resourceVersion: 2, metadata: tracked });
});

test('accepts one of several concurrent changes based on one version', async () => {
  await save(1, EMPTY_METADATA, tracked);
  const outcomes = await Promise.allSettled([0, 1, 2, 3].map(() => save(2, tracked, setEnum(tracked, 'a'))));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await storage.currentVersion()).toBe(3);
});

test('commits further writes of the transaction only with the change', async () => {
  const create = {
    inTransaction: async (connection: { query(text: string, values: []): Promise<unknown> }) =>
      void (await connection.query('create table effect ()', [])),
  };
  await expect(save(7, EMPTY_METADATA, tracked, create)).rejects.toMatchObject({ code: 'conflict' });
  const failing = { inTransaction: () => Promise.reject(new Error('refused')) };
  await expect(save(1, EMPTY_METADATA, tracked, failing)).rejects.toThrow('refused');
  expect(await storage.currentVersion()).toBe(1);
  await save(1, EMPTY_METADATA, tracked, create);
  expect((await source.query(`select to_regclass('effect')::text`, [])).rows).toEqual([['effect']]);
});

describe('changes of another instance', () => {
  test('reads only changed pieces', async () => {
    await save(1, EMPTY_METADATA, tracked);
    await save(2, tracked, setEnum(tracked, 'a'), { refresh: { sources: ['s'] } });
    const after = withoutTable(setEnum(tracked, 'a'), 's', key('b'));
    await save(3, setEnum(tracked, 'a'), after, { instanceId: 'two' });

    const changes = await storage.changesSince(2);
    if (changes.kind !== 'changes') throw new Error('unexpected');
    expect(changes.resourceVersion).toBe(4);
    expect(changes.changes.map(({ kind, key: of, json }) => [kind, of, json === null])).toEqual([
      ['table', '["public","a"]', false],
      ['table', '["public","b"]', true],
    ]);
    expect(changes.notices).toEqual([
      { resourceVersion: 3, instanceId: 'one', refresh: { sources: ['s'] } },
      { resourceVersion: 4, instanceId: 'two', refresh: null },
    ]);
    expect(applyPieces(tracked, changes.changes, testKinds)).toEqual(after);
    expect(await storage.changesSince(4)).toEqual({ kind: 'changes', resourceVersion: 4, changes: [], notices: [] });
  });

  test('requires a full load for a version that the catalog does not have', async () => {
    expect(await storage.changesSince(9)).toEqual({ kind: 'unknown', resourceVersion: 1 });
    expect(await storage.changesSince(0)).toEqual({ kind: 'unknown', resourceVersion: 1 });
  });

  test('has a notice for a change without pieces', async () => {
    expect(await save(1, EMPTY_METADATA, EMPTY_METADATA, { refresh: { sources: 'all' } })).toBe(2);
    expect(await storage.changesSince(1)).toMatchObject({ changes: [], notices: [{ refresh: { sources: 'all' } }] });
  });

  test('notifies listeners of the version and its instance', async () => {
    const client = new pg.Client(database.url);
    await client.connect();
    const notification = new Promise<string | undefined>((resolve) => client.on('notification', ({ payload }) => resolve(payload)));
    await client.query(`listen ${METADATA_CHANNEL}`);
    await save(1, EMPTY_METADATA, tracked);
    expect(JSON.parse((await notification) ?? '')).toEqual({ version: 2, instance: 'one' });
    await client.end();
  });

  test('deletes removals and notices after some versions', async () => {
    await save(1, EMPTY_METADATA, tracked);
    let metadata = withoutTable(tracked, 's', key('b'));
    await save(2, tracked, metadata);
    for (let version = 3; version < 128; version += 1) {
      const next = setEnum(metadata, 'a');
      await save(version, metadata, next);
      metadata = next;
    }
    const count = async (table: string) => Number((await source.query(`select count(*) from svc_catalog.${table}`, [])).rows[0]?.[0]);
    expect(await count('metadata_notice')).toBe(64);
    expect(await count('metadata_piece')).toBe(2);
    expect((await storage.changesSince(63)).kind).toBe('unknown');
    expect((await storage.changesSince(64)).kind).toBe('changes');
    expect((await storage.load()).metadata).toEqual(metadata);
  });

  test('stores removals up to the maximum', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `t${i}`).reduce(
      (metadata, table) => withTable(metadata, 's', newTable(name(table))),
      withSourceS,
    );
    await save(1, EMPTY_METADATA, many);
    await save(2, many, withSourceS);
    expect((await source.query('select count(*) from svc_catalog.metadata_piece', [])).rows).toEqual([['1']]);
    expect((await storage.changesSince(2)).kind).toBe('unknown');
    expect((await storage.changesSince(3)).kind).toBe('changes');
  });
});

describe('migrations', () => {
  /** A catalog of version 2, before remote schemas, cron triggers and actions were supported. */
  const keepSection = async (json: Json, name = 'remote_schemas'): Promise<void> => {
    const later = [
      'remote_schema_introspection',
      'svc_cron_events',
      'svc_cron_event_invocation_logs',
      'svc_cron_progress',
      'svc_scheduled_events',
    ];
    const tables = [...later, 'svc_scheduled_event_invocation_logs', 'svc_action_log'].map((table) => `svc_catalog.${table}`);
    await source.runSql(`drop table ${tables.join(', ')}; ${WITHOUT_HISTORY}; update svc_catalog.catalog_version set version = 2`, {});
    await source.query(`insert into svc_catalog.metadata_piece values ('section', '', $1, $2::json, 1)`, [name, printJson(json)]);
  };

  test('converts a section of cron triggers to objects', async () => {
    const triggers: Json = [
      { name: 'a', webhook: 'http://a', schedule: '*/5 3 * * *', include_in_metadata: true, payload: { b: 1 }, comment: 'c' },
      { name: 'b', webhook: '{{B}}', schedule: '0 0 1 1 0', include_in_metadata: true, later: 1 },
    ];
    await keepSection(triggers, 'cron_triggers');
    await storage.migrate();
    const { metadata } = await storage.load();
    expect(metadata.unknownKeys).toBeUndefined();
    expect(metadataCodec(testKinds).encode(metadata)).toMatchObject({ cron_triggers: triggers });
  });

  test.each<Json>([[{ name: 'a' }], [{ name: 'a', webhook: 'x', schedule: '99 * * * *', include_in_metadata: true }], 'x'])(
    'keeps a section that is not made of cron triggers: %j',
    async (kept) => {
      await keepSection(kept, 'cron_triggers');
      await storage.migrate();
      const { metadata } = await storage.load();
      expect(metadataCodec(testKinds).encode(metadata)).toMatchObject({ cron_triggers: kept });
    },
  );

  test('creates one catalog for instances that start at the same time', async () => {
    const fresh = await testDatabase();
    const instances = Array.from({ length: 4 }, () => plainSource(fresh.url, 1));
    await Promise.all(instances.map((instance) => createStorage(instance, testKinds).migrate()));
    expect(await createStorage(instances[0] as Source, testKinds).currentVersion()).toBe(1);
    await Promise.all(instances.map((instance) => instance.close()));
    await fresh.drop();
  });

  test('keeps the content of a current catalog', async () => {
    await save(1, EMPTY_METADATA, tracked);
    await storage.migrate();
    expect((await storage.load()).metadata).toEqual(tracked);
  });

  test('converts a section of remote schemas to objects', async () => {
    const remoteSchemas: Json = [
      { name: 'b', definition: { url: 'http://b', timeout_seconds: 60 } },
      { name: 'a', definition: { url_from_env: 'A', timeout_seconds: 9 }, comment: 'c', later: 1 },
    ];
    await keepSection(remoteSchemas);
    await storage.migrate();
    const { metadata } = await storage.load();
    expect(metadata.unknownKeys).toBeUndefined();
    expect(metadataCodec(testKinds).encode(metadata)).toMatchObject({ remote_schemas: [...remoteSchemas].reverse() });
  });

  test('converts sections of actions and custom types to objects', async () => {
    const definition = { handler: 'http://h', output_type: 'S', type: 'mutation', kind: 'synchronous' };
    await keepSection([{ name: 'a', definition, permissions: [{ role: 'r' }] }], 'actions');
    await source.query(`insert into svc_catalog.metadata_piece values ('section', '', 'custom_types', $1::json, 1)`, [
      printJson({ scalars: [{ name: 'S' }] }),
    ]);
    await storage.migrate();
    const { metadata } = await storage.load();
    expect(metadata.unknownKeys).toBeUndefined();
    expect(metadataCodec(testKinds).encode(metadata)).toMatchObject({
      actions: [{ name: 'a', definition, permissions: [{ role: 'r' }] }],
      custom_types: { scalars: [{ name: 'S' }] },
    });
  });

  test('keeps a section that has the name but another content', async () => {
    const kept: Json = [{ name: 'b', definition: { url: 'http://b' } }, { name: 'a' }];
    await keepSection(kept);
    await storage.migrate();
    const { metadata } = await storage.load();
    expect(metadataCodec(testKinds).encode(metadata)).toMatchObject({ remote_schemas: kept });
  });

  const known = Array.from({ length: CATALOG_VERSION }, () => '');
  const versions = async (): Promise<unknown> =>
    (await source.query(`select version, to_jsonb(v) ->> 'oldest_reader' from svc_catalog.catalog_version v`, [])).rows;

  test('uses the catalog of a newer service whose migrations only add something', async () => {
    await save(1, EMPTY_METADATA, tracked);
    const added = 'alter table svc_catalog.metadata_piece add column note text; create table svc_catalog.extra (id int)';
    await migrate(source, { migrations: [...known, added], oldestReader: CATALOG_VERSION });
    await storage.migrate();
    expect(await versions()).toEqual([[String(CATALOG_VERSION + 1), String(CATALOG_VERSION)]]);
    await save(2, tracked, EMPTY_METADATA);
    expect((await storage.load()).metadata).toEqual(EMPTY_METADATA);
  });

  test('ignores pieces and keys of notifications that only a newer service has', async () => {
    await source.query('insert into svc_catalog.metadata_piece values ($1, $2, $3, $4::json, 1)', ['later_kind', '', 'k', '{"a": 1}']);
    expect((await storage.load()).metadata).toEqual(EMPTY_METADATA);
    await save(1, EMPTY_METADATA, tracked);
    expect((await storage.load()).metadata).toEqual(tracked);
    expect((await source.query(`select definition from svc_catalog.metadata_piece where kind = 'later_kind'`, [])).rows).toHaveLength(1);
    const changes: (Announcement | null)[] = [];
    const listener = {
      ...source,
      async listen(_channel: string, onPayload: (payload: string | null) => void) {
        onPayload('{"version": 7, "instance": "other", "later": {"a": [1]}}');
        return { stop: async () => {} };
      },
    };
    await createStorage(listener, testKinds).listen((change) => changes.push(change));
    expect(changes).toEqual([{ version: 7, instance: 'other' }]);
  });

  test('refuses a catalog that requires a newer service, and names both versions', async () => {
    await migrate(source, { migrations: [...known, '', 'drop table svc_catalog.catalog_state'], oldestReader: CATALOG_VERSION + 1 });
    await expect(storage.migrate()).rejects.toMatchObject({
      code: 'not-supported',
      message: `the metadata database has catalog version ${CATALOG_VERSION + 2}, which requires a service that supports version ${CATALOG_VERSION + 1}, and this one supports versions up to ${CATALOG_VERSION}: start a newer version of the service`,
    });
    expect(await versions()).toEqual([[String(CATALOG_VERSION + 2), String(CATALOG_VERSION + 1)]]);
  });

  test('treats a catalog without an oldest reader as usable by its own version only', async () => {
    await source.runSql('alter table svc_catalog.catalog_version drop column oldest_reader', {});
    await storage.migrate();
    expect(await versions()).toEqual([[String(CATALOG_VERSION), null]]);
    await source.query('update svc_catalog.catalog_version set version = 99', []);
    await expect(storage.migrate()).rejects.toMatchObject({
      code: 'not-supported',
      message: expect.stringContaining('catalog version 99, which requires a service that supports version 99') as string,
    });
  });

  test('rolls back a migration that fails', async () => {
    const failing = { migrations: [...known, 'create table svc_catalog.extra (); select 1 / 0'], oldestReader: CATALOG_VERSION };
    await expect(migrate(source, failing)).rejects.toThrow();
    expect(
      (await source.query(`select version, to_regclass('svc_catalog.extra')::text from svc_catalog.catalog_version`, [])).rows,
    ).toEqual([[String(CATALOG_VERSION), null]]);
  });

  test('uses an existing schema of a user without the privilege to create schemas', async () => {
    const fresh = await testDatabase();
    const owner = plainSource(fresh.url, 1);
    const role = `svc_test_${randomBytes(6).toString('hex')}`;
    const password = randomBytes(6).toString('hex');
    await owner.runSql(`create role ${role} login password '${password}'; create schema svc_catalog authorization ${role}`, {});
    const url = new URL(fresh.url);
    url.username = role;
    url.password = password;
    const user = plainSource(url.href, 1);
    await createStorage(user, testKinds).migrate();
    expect(await createStorage(user, testKinds).currentVersion()).toBe(1);
    await user.close();
    await owner.runSql(`drop owned by ${role}; drop role ${role}`, {});
    await owner.close();
    await fresh.drop();
  });
});

test('returns whether the database responds', async () => {
  expect(await storage.isAlive()).toBe(true);
  const nowhere = plainSource('postgres://postgres@127.0.0.1:1/none');
  expect(await createStorage(nowhere, testKinds).isAlive()).toBe(false);
  await nowhere.close();
});

test('gives every statement about the metadata a deadline', async () => {
  const open: string[] = [];
  const fake = (within: boolean) => ({
    query: async (text: string, _values: unknown, how: RunOptions = {}) => {
      if (!within && how.deadline === undefined) open.push(text);
      return { kind: 'TuplesOk', columns: [], rows: [['1', '1']], command: '' };
    },
    transaction: async (options: TransactionOptions, run: (connection: unknown) => Promise<unknown>) => {
      if (options.deadline === undefined) open.push('a transaction');
      return run(fake(true));
    },
  });
  const hung = createStorage(fake(false) as unknown as Source, testKinds);
  await Promise.allSettled([
    hung.migrate(),
    hung.load(),
    hung.currentVersion(),
    hung.changesSince(0),
    hung.save({ expectedVersion: 1, changes: [], instanceId: 'one' }),
  ]);
  expect(open).toEqual([]);
});

test('clamps stored numbers that are out of range, with a warning', async () => {
  const cron = { name: 'c', webhook: 'http://x', schedule: '* * * * *', include_in_metadata: true };
  const pieces: readonly [kind: string, key: string, json: object][] = [
    ['cron_trigger', 'c', { ...cron, retry_conf: { num_retries: 2_000_000, timeout_seconds: 0, tolerance_seconds: 1e12 } }],
    ['action', 'a', { name: 'a', definition: { handler: 'http://x', output_type: 'Int', timeout: -1 } }],
  ];
  for (const [kind, key_, json] of pieces)
    await source.query(`insert into svc_catalog.metadata_piece values ($1, '', $2, $3::json, 1)`, [kind, key_, JSON.stringify(json)]);
  const warnings: string[] = [];
  const { metadata } = await createStorage(source, testKinds, { warn: (message) => warnings.push(message) }).load();
  expect(metadata.cronTriggers.get('c')?.retryConf).toEqual({
    numRetries: 1_000_000,
    timeoutSeconds: 1,
    intervalSeconds: 10,
    toleranceSeconds: 366 * 24 * 3600,
  });
  expect(metadata.actions.get('a')?.definition.timeout).toBe(0);
  expect(warnings.map((message) => message.split(':')[0])).toEqual([
    '$.action[""].a.definition.timeout',
    '$.cron_trigger[""].c.retry_conf.num_retries',
    '$.cron_trigger[""].c.retry_conf.tolerance_seconds',
    '$.cron_trigger[""].c.retry_conf.timeout_seconds',
  ]);
});
