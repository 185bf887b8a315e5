import { NO_REMOTES } from '../../test/support/no-remotes.ts';
import { expect, test, vi } from 'vitest';
import { runSql } from '../../test/support/postgres.ts';
import type { Backend } from '../backend/backend.ts';
import { postgresql } from '../databases/postgresql/index.ts';
import { SvcError } from '../errors/svc-error.ts';
import { updateTable, withEntry, withoutSource, withSource, withTable } from '../metadata/edit.ts';
import { EMPTY_METADATA, type Metadata, type SourceMetadata } from '../metadata/metadata.ts';
import { newTable } from '../metadata/table.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../schema/role-schemas.ts';
import { createState } from './create-state.ts';
import { requireVersion } from './require-version.ts';
import type { ChangeResult, State } from './state.ts';
import {
  add,
  database,
  key,
  kinds,
  name,
  opened,
  useRunningState,
  source,
  start,
  state,
  storage,
  track,
} from '../../test/support/running-state.ts';
import { WAIT } from '../../test/support/wait.ts';

useRunningState();

test('stores and publishes a change, and loads it at the next start', async () => {
  expect(state.current()).toMatchObject({ resourceVersion: 1, metadata: EMPTY_METADATA });
  await state.change(add(database.url));
  const result = await state.change(track('author'));
  expect(result).toEqual({ resourceVersion: 3, inconsistencies: [] });
  expect([...(state.current().cache.sources.get('s')?.tables.keys() ?? [])]).toEqual([key('author')]);

  const second = await start('two');
  expect(second.current().resourceVersion).toBe(3);
  expect(second.current().cache.sources.get('s')?.tables.get(key('author'))?.catalog.columns).toHaveLength(2);
  expect(await second.isAlive()).toBe(true);
  await second.stop();
});

test('changes nothing if the edited object would be inconsistent', async () => {
  await state.change(add(database.url));
  const before = state.current();
  await expect(state.change(track('nothing'))).rejects.toMatchObject({
    code: 'invalid-configuration',
    message: 'Inconsistent object: no such table/view exists in source: "nothing"',
    internal: [{ type: 'table', name: 'table nothing in source s', definition: { schema: 'public', name: 'nothing' } }],
  });
  expect(state.current()).toBe(before);
  expect(await storage.currentVersion()).toBe(2);
  expect((await storage.load()).metadata.sources.get('s')?.tables.size).toBe(0);
});

test('refuses a change that makes other objects inconsistent, unless inconsistencies are allowed', async () => {
  await state.change(add(database.url));
  await state.change(track('author'));
  await state.change(track('article'));
  const relationship = { name: 'author', using: { kind: 'own-columns' as const, columns: ['author_id'] } };
  await state.change({
    edit: (m) =>
      updateTable(m, 's', key('article'), (t) => ({ ...t, objectRelationships: withEntry(t.objectRelationships, 'author', relationship) })),
  });
  const untrack = { edit: (m: Metadata) => updateSourceTables(m, 'author') };
  await expect(state.change(untrack)).rejects.toMatchObject({
    code: 'unexpected',
    status: 400,
    message: 'cannot continue due to new inconsistent metadata',
    internal: [{ type: 'object_relation', reason: 'Inconsistent object: table "author" is not tracked' }],
  });
  const result = await state.change({ ...untrack, inconsistencies: 'allow' });
  expect(result.inconsistencies).toHaveLength(1);
  // Objects that were inconsistent before do not fail the change.
  await expect(state.change(track('color'))).resolves.toMatchObject({ inconsistencies: [{ type: 'object_relation' }] });
});

function updateSourceTables(metadata: Metadata, without: string): Metadata {
  const entry = metadata.sources.get('s') as SourceMetadata;
  return withSource(metadata, { ...entry, tables: new Map([...entry.tables].filter(([each]) => each !== key(without))) });
}

test('refuses a stale version before it changes anything', async () => {
  const edit = vi.fn((metadata: Metadata) => metadata);
  const change = (draft: State): Promise<ChangeResult> => {
    requireVersion(draft.current(), 7);
    return draft.change({ edit });
  };
  await expect(state.transaction(change, { repeatable: true })).rejects.toMatchObject({
    code: 'conflict',
    status: 409,
    printedPath: '$',
    message: 'metadata resource version referenced (7) did not match current version',
  });
  expect(edit).not.toHaveBeenCalled();
});

test('refuses a change that adds an unreachable source', async () => {
  await expect(state.change(add('postgres://127.0.0.1:1/none'))).rejects.toMatchObject({
    code: 'invalid-configuration',
    message: 'Inconsistent object: connection error',
    internal: [{ type: 'source', name: 'source s', definition: 's', message: expect.stringContaining('127.0.0.1:1') }],
  });
  expect(state.current().metadata).toEqual(EMPTY_METADATA);
});

test('closes the connections of a failed change, and keeps those in use', async () => {
  await state.change(add(database.url));
  const before = state.current();
  const failing = {
    ...track('nothing'),
    edit: (m: Metadata) => withTable(withSource(m, source('s', `${database.url}?application_name=other`)), 's', newTable(name('nothing'))),
  };
  await expect(state.change(failing)).rejects.toBeInstanceOf(SvcError);
  expect(opened.map(({ closed }) => closed)).toEqual([false, true]);
  expect(state.current().connections.get('s')).toBe(before.connections.get('s'));
});

test('keeps the snapshot if the change cannot be stored', async () => {
  const other = await start('two', { save: () => Promise.reject(new SvcError('unexpected', 'no disk')) });
  await expect(other.change(add(database.url))).rejects.toMatchObject({ message: 'no disk' });
  expect(other.current().metadata).toEqual(EMPTY_METADATA);
  expect(opened.map(({ closed }) => closed)).toEqual([true]);
  await other.stop();
});

test('closes a dropped source after the change', async () => {
  await state.change(add(database.url));
  await state.change({ edit: (metadata) => withoutSource(metadata, 's') });
  expect(state.current().connections.size).toBe(0);
  await vi.waitFor(() => expect(opened.map(({ closed }) => closed)).toEqual([true]), WAIT);
});

test('keeps the connection of a renamed source', async () => {
  await state.change(add(database.url));
  const connection = state.current().connections.get('s');
  await state.change({
    edit: (metadata) => withSource(withoutSource(metadata, 's'), { ...(metadata.sources.get('s') as SourceMetadata), name: 'renamed' }),
  });
  expect(state.current().connections.get('renamed')).toBe(connection);
});

test('tracks tables that are newer than the catalog, and finds other changes on reload', async () => {
  await state.change(add(database.url));
  await runSql(database.url, 'create table late (id int primary key)');
  await state.change(track('late'));
  await runSql(database.url, 'alter table late add column more text');
  const columns = () => [...(state.current().cache.sources.get('s')?.tables.get(key('late'))?.columns.keys() ?? [])];
  expect(columns()).toEqual(['id']);
  await state.change({ edit: (m) => m, refresh: { tables: [{ source: 's', name: name('late') }] } });
  expect(columns()).toEqual(['id', 'more']);
  await runSql(database.url, 'alter table late drop column more');
  await state.change({ edit: (m) => m, refresh: { sources: 'all' }, inconsistencies: 'allow' });
  expect(columns()).toEqual(['id']);
});

test('keeps the table objects when an unchanged source is reloaded', async () => {
  await state.change(add(database.url));
  await state.change(track('author'));
  const before = state.current().cache.sources.get('s');
  const result = await state.change({ edit: (m) => m, refresh: { sources: ['s'] }, inconsistencies: 'allow' });
  expect(result.resourceVersion).toBe(4);
  expect(state.current().cache.sources.get('s')?.tables).toBe(before?.tables);
});

test('reads the values of enum tables, again on reload', async () => {
  await state.change(add(database.url));
  await state.change({ edit: (m) => withTable(m, 's', { ...newTable(name('color')), isEnum: true }) });
  const values = () => state.current().cache.sources.get('s')?.tables.get(key('color'))?.enumValues;
  expect(values()).toEqual([
    { value: 'blue', description: null },
    { value: 'red', description: 'warm' },
  ]);
  await runSql(database.url, "insert into color values ('green', null)");
  await state.change({ edit: (m) => m, refresh: { sources: 'all' } });
  expect(values()?.map(({ value }) => value)).toEqual(['blue', 'green', 'red']);
});

test('reads the function of a new computed field from the database', async () => {
  await state.change(add(database.url));
  await state.change(track('author'));
  await runSql(database.url, "create function loud(a author) returns text language sql stable as 'select upper(a.name)'");
  await state.change({
    inconsistencies: 'allow',
    edit: (m) =>
      updateTable(m, 's', key('author'), (t) => ({
        ...t,
        computedFields: withEntry(t.computedFields, 'loud', { name: 'loud', function: name('loud') }),
      })),
  });
  expect(state.current().cache.sources.get('s')?.tables.get(key('author'))?.computedFields.has('loud')).toBe(true);
});

test('adds a source that was down at the start when it comes back', async () => {
  await state.change(add(database.url));
  await state.change(track('author'));
  let down = true;
  const flaky: Backend = {
    ...(postgresql as Backend),
    connect: (configuration, context) =>
      down ? Promise.reject(new Error('refused')) : postgresql.connect(configuration as never, context),
  };
  const second = await createState({
    storage,
    backends: [flaky],
    kinds,
    cache: { defaultNamingConvention: 'svc-default' },
    roleSchemas: DEFAULT_ROLE_SCHEMAS_OPTIONS,
    connect: { environment: {}, usePreparedStatements: true, maxConnections: 4 },
    ...NO_REMOTES,
    observe: () => {},
    retry: { firstMs: 10, maxMs: 20 },
  });
  expect(second.current().cache.inconsistencies).toMatchObject([
    { type: 'source', reason: 'Inconsistent object: connection error', message: 'refused' },
  ]);
  expect(second.current().cache.sources.size).toBe(0);
  down = false;
  await vi.waitFor(() => expect(second.current().cache.inconsistencies).toEqual([]), WAIT);
  expect(second.current().cache.sources.get('s')?.tables.has(key('author'))).toBe(true);
  expect(second.current().resourceVersion).toBe(3);
  await second.stop();
});

test('opens sources with all connection settings of the service', async () => {
  const contexts: unknown[] = [];
  const recording: Backend = {
    ...(postgresql as Backend),
    connect: (configuration, context) => {
      contexts.push(context);
      return postgresql.connect(configuration as never, context);
    },
  };
  const settings = {
    environment: {},
    usePreparedStatements: false,
    maxConnections: 3,
    idleTimeoutMs: 4_000,
    lifetimeMs: 5_000,
    waitTimeoutMs: 6_000,
    isolation: 'serializable' as const,
  };
  await state.change(add(database.url));
  const second = await createState({
    storage,
    backends: [recording],
    kinds,
    cache: { defaultNamingConvention: 'svc-default' },
    roleSchemas: DEFAULT_ROLE_SCHEMAS_OPTIONS,
    connect: settings,
    ...NO_REMOTES,
    observe: () => {},
  });
  await second.stop();
  expect(contexts).toEqual([{ ...settings, sourceName: 's', onEvent: expect.any(Function) }]);
});

test('keeps role schemas whose inputs do not change', async () => {
  await state.change(add(database.url));
  await state.change(track('author'));
  const schema = state.current().roleSchema('admin', 'frontend');
  await state.change({ edit: (m) => m });
  expect(state.current().roleSchema('admin', 'frontend')).toBe(schema);
  await state.change(track('article'));
  expect(state.current().roleSchema('admin', 'frontend')).not.toBe(schema);
});

test('refuses changes after the stop', async () => {
  await state.change(add(database.url));
  await state.stop();
  expect(opened.map(({ closed }) => closed)).toEqual([true]);
  await expect(state.change({ edit: (m) => m })).rejects.toMatchObject({ message: 'the service is shutting down' });
});

test('notifies listeners of each published snapshot, from any instance, and of no other', async () => {
  const heard: string[] = [];
  const stop = state.onSnapshot((shown, before) => {
    expect(state.current()).toBe(shown);
    heard.push(`${before.resourceVersion} -> ${shown.resourceVersion}`);
  });
  await state.change(add(database.url));
  expect(heard).toEqual(['1 -> 2']);
  await expect(state.change(track('nothing'))).rejects.toThrow();
  const twice = async (draft: State) => {
    await draft.change(track('author'));
    await draft.change(track('article'));
  };
  await state.transaction(twice, { repeatable: true });
  expect(heard).toEqual(['1 -> 2', '2 -> 3']);

  const other = await start('two');
  await other.change(track('color'));
  await state.synchronize();
  await state.synchronize();
  expect(heard).toEqual(['1 -> 2', '2 -> 3', '3 -> 4']);
  await other.stop();

  stop();
  await state.change({ edit: (metadata) => withoutSource(metadata, 's') });
  expect(heard).toHaveLength(3);
});

test('reports a failing listener without an effect on the change and on other listeners', async () => {
  const reported: unknown[] = [];
  const observed = await start('observed', {}, (observation) => {
    if (observation.kind === 'unexpected') reported.push(observation.error);
  });
  const heard: number[] = [];
  observed.onSnapshot(() => {
    throw new Error('a fault of the listener');
  });
  observed.onSnapshot((shown) => heard.push(shown.resourceVersion));
  await observed.change(add(database.url));
  expect(observed.current().resourceVersion).toBe(2);
  expect(heard).toEqual([2]);
  expect(reported).toEqual([new Error('a fault of the listener')]);
  await observed.stop();
});
