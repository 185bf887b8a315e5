/** The history of metadata changes: who, when, what, and the metadata of an earlier version. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SECRET = 'history-secret';
const OPTIONS = { ADMIN_SECRET: SECRET };

let one: TestService;
let two: TestService;
beforeAll(async () => {
  one = await startTestService(OPTIONS);
  await one.sql('create table author (id int primary key, name text); create table article (id int primary key)');
  two = await startTestService({ ...OPTIONS, DATABASE_URL: one.databaseUrl });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

interface Entry extends JsonObject {
  readonly resource_version: number;
  readonly operations: readonly string[];
}

async function history(service: TestService, args: JsonObject = {}): Promise<readonly Entry[]> {
  const { history: entries } = (await service.metadata('get_metadata_history', args)) as { readonly history: readonly Entry[] };
  return entries;
}

async function newest(service: TestService): Promise<Entry> {
  const [entry] = await history(service, { limit: 1 });
  if (entry === undefined) throw new Error('the history is empty');
  return entry;
}

async function completeSince(service: TestService): Promise<Json> {
  return ((await service.metadata('get_metadata_history', { limit: 1 })) as JsonObject)['complete_since'] ?? null;
}

const exported = (service: TestService): Promise<Json> => service.metadata('export_metadata', {});

async function send(body: JsonObject, headers: Readonly<Record<string, string>>, path = '/v1/metadata') {
  return one.send(path, { method: 'POST', headers: { 'x-svc-admin-secret': SECRET, ...headers }, body: JSON.stringify(body) });
}

describe('the history of metadata changes', () => {
  it('has the first source without an author', async () => {
    const entries = await history(one);
    expect(entries.at(-1)).toMatchObject({
      role: null,
      operations: [],
      object_count: 1,
      has_objects: true,
      objects: [{ type: 'source', name: 'default', change: 'added' }],
    });
  });

  it('has version, time, author and objects of a change', async () => {
    const answer = await send(
      { type: 'pg_track_table', args: { table: 'author' } },
      { 'x-svc-user-id': '7', 'x-svc-client-name': 'history-test', 'x-request-id': 'request-of-history' },
    );
    expect(answer.status).toBe(200);
    const entry = await newest(one);
    expect(entry).toEqual({
      resource_version: expect.any(Number),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      role: 'admin',
      user: '7',
      credentials: 'admin-secret',
      client: 'history-test',
      ip: expect.stringContaining('127.0.0.1'),
      request_id: 'request-of-history',
      operations: ['pg_track_table'],
      object_count: 1,
      has_objects: true,
      objects: [{ type: 'table', source: 'default', name: 'public.author', change: 'added' }],
    });
    expect(await one.metadata('get_metadata_change', { resource_version: entry.resource_version })).toEqual({
      resource_version: entry.resource_version,
      objects: [
        {
          ...{ type: 'table', source: 'default', name: 'public.author' },
          before: null,
          after: { table: { schema: 'public', name: 'author' } },
        },
      ],
    });
  });

  it('has one entry for a bulk, without the operations that only read', async () => {
    const before = await newest(one);
    await one.metadata('bulk', [
      { type: 'pg_track_table', args: { table: 'article' } },
      { type: 'export_metadata', args: {} },
      { type: 'pg_create_select_permission', args: { table: 'author', role: 'user', permission: { columns: ['id'], filter: {} } } },
    ]);
    const entry = await newest(one);
    expect(entry).toMatchObject({
      operations: ['pg_track_table', 'pg_create_select_permission'],
      object_count: 2,
      objects: [
        { type: 'table', name: 'public.article', change: 'added' },
        { type: 'table', name: 'public.author', change: 'changed' },
      ],
    });
    expect(await history(one, { before: entry.resource_version, limit: 1 })).toEqual([before]);
  });

  it('leaves out failed changes, failed elements of a bulk, and operations without an effect on the document', async () => {
    const before = await history(one);
    await expect(one.metadata('pg_track_table', { table: 'nothing' })).rejects.toThrow();
    await expect(
      one.metadata('bulk', [
        { type: 'pg_untrack_table', args: { table: 'article' } },
        { type: 'pg_untrack_table', args: { table: 'nothing' } },
      ]),
    ).rejects.toThrow();
    await one.metadata('reload_metadata', {});
    expect(await history(one)).toEqual(before);
    await one.metadata('bulk_keep_going', [
      { type: 'pg_untrack_table', args: { table: 'article' } },
      { type: 'pg_set_table_is_enum', args: { table: 'nothing', is_enum: true } },
    ]);
    expect(await newest(one)).toMatchObject({ operations: ['pg_untrack_table'], objects: [{ name: 'public.article', change: 'removed' }] });
  });

  it('has the metadata changes of SQL with their author', async () => {
    const sql = 'alter table author rename to writer';
    await send({ type: 'run_sql', args: { sql, check_metadata_consistency: true } }, { 'x-svc-user-id': '8' }, '/v2/query');
    expect(await newest(one)).toMatchObject({ user: '8', operations: [expect.stringMatching(/run_sql$/)], object_count: 2 });
    await one.sql('alter table writer rename to author', { check_metadata_consistency: true });
  });

  it('returns the metadata after each change, for replace_metadata', async () => {
    const [now, earlier] = await history(one, { limit: 2 });
    const { metadata } = (await one.metadata('get_metadata_version', { resource_version: earlier?.resource_version ?? 0 })) as JsonObject;
    expect(JSON.stringify(metadata)).toContain('writer');
    const current = (await one.metadata('get_metadata_version', { resource_version: now?.resource_version ?? 0 })) as JsonObject;
    expect(current['metadata']).toEqual(await exported(one));
    const first = (await history(one)).find(({ operations }) => operations.includes('pg_track_table'));
    const document = (await one.metadata('get_metadata_version', { resource_version: first?.resource_version ?? 0 })) as JsonObject;
    await one.metadata('replace_metadata', { metadata: document['metadata'] ?? null, allow_inconsistent_metadata: false });
    expect(await exported(one)).toEqual(document['metadata']);
    expect(await newest(one)).toMatchObject({ operations: ['replace_metadata'] });
  });

  it('has the changes of all instances, and outlives a restart', async () => {
    await two.metadata('pg_untrack_table', { table: 'author' });
    const entries = await history(one);
    expect(entries[0]).toMatchObject({ operations: ['pg_untrack_table'] });
    expect(await history(two)).toEqual(entries);
    await two.stop();
    two = await startTestService({ ...OPTIONS, DATABASE_URL: one.databaseUrl });
    expect(await history(two)).toEqual(entries);
  });

  it('returns a version in a bulk after a change, and right after changes of another instance', async () => {
    const { resource_version } = await newest(one);
    const document = await exported(one);
    const operation = { type: 'get_metadata_version', args: { resource_version } };
    const answers = (await one.metadata('bulk', [{ type: 'pg_track_table', args: { table: 'author' } }, operation])) as readonly Json[];
    expect(answers[1]).toEqual({ resource_version, metadata: document });
    await expect(
      one.metadata('bulk', [
        { type: 'pg_untrack_table', args: { table: 'author' } },
        { type: 'get_metadata_version', args: { resource_version: resource_version + 2 } },
      ]),
    ).rejects.toThrow('not-exists');
    await one.metadata('pg_untrack_table', { table: 'author' });
    expect(await two.metadata('get_metadata_version', { resource_version })).toEqual({ resource_version, metadata: document });
  });

  it('does not reach back beyond a change that an earlier release has stored', async () => {
    const before = await newest(two);
    // Earlier releases only know these columns and tables.
    await runSql(
      one.databaseUrl,
      `with v as (update svc_catalog.metadata_version set resource_version = resource_version + 1 returning resource_version)
       insert into svc_catalog.metadata_notice (resource_version, instance_id) select resource_version, 'earlier release' from v`,
    );
    const version = (service: TestService, resource_version: number) => service.metadata('get_metadata_version', { resource_version });
    await expect(version(two, before.resource_version)).rejects.toThrow('not-exists');
    await two.metadata('pg_track_table', { table: 'author' });
    await expect(version(two, before.resource_version)).rejects.toThrow('not-exists');
    await version(two, (await newest(two)).resource_version);
    expect(await completeSince(one)).toBe(before.resource_version + 1);
    await two.metadata('get_metadata_change', { resource_version: before.resource_version });
  });

  it('lists long names cut', async () => {
    const collection_name = 'c'.repeat(100_000);
    await one.metadata('create_query_collection', { name: collection_name, definition: { queries: [] } });
    const entry = await newest(one);
    expect(entry).toMatchObject({ objects: [{ type: 'query_collection', name: 'c'.repeat(200), change: 'added' }] });
    const { objects } = (await one.metadata('get_metadata_change', { resource_version: entry.resource_version })) as JsonObject;
    expect(objects).toMatchObject([{ name: collection_name }]);
    await one.metadata('drop_query_collection', { collection: collection_name, cascade: false });
  });

  it('is cleared up to a version, which removes secrets, and restores nothing from before it', async () => {
    const table = (name: string): JsonObject => ({ table: 'author', source: 'default', configuration: { comment: name } });
    await one.metadata('pg_set_table_customization', table('text-of-a-secret'));
    const removed = await newest(one);
    await one.metadata('pg_set_table_customization', table('none'));
    const { resource_version } = await newest(one);
    await one.metadata('pg_set_table_customization', table('later'));
    const stored = async (): Promise<string> => {
      const entries = await history(one);
      const changes = entries.map(({ resource_version: version }) => one.metadata('get_metadata_change', { resource_version: version }));
      return JSON.stringify(await Promise.all(changes));
    };
    expect(await stored()).toContain('text-of-a-secret');
    await one.metadata('clear_metadata_history', { before: resource_version + 1 });
    expect(await stored()).not.toContain('text-of-a-secret');
    const version = (of: number) => two.metadata('get_metadata_version', { resource_version: of });
    await expect(version(removed.resource_version)).rejects.toThrow('not-exists');
    expect(JSON.stringify(await version(resource_version))).toContain('none');

    await one.metadata('clear_metadata_history', {});
    expect(await history(two)).toEqual([]);
    expect(await completeSince(two)).toBe(resource_version + 1);
    await expect(version(resource_version)).rejects.toThrow('not-exists');
    await one.metadata('pg_set_table_customization', table('latest'));
    const [entry, ...more] = await history(one);
    expect(more).toEqual([]);
    expect(JSON.stringify(await version((entry?.resource_version ?? 0) - 1))).toContain('later');
  });

  it('restores nothing across records and objects that were deleted by hand', async () => {
    const comment = (text: string) => one.metadata('pg_set_table_customization', { table: 'author', configuration: { comment: text } });
    const version = (of: number) => two.metadata('get_metadata_version', { resource_version: of });
    const remove = (from: string, of: number) => runSql(one.databaseUrl, `delete from svc_catalog.${from} where resource_version = ${of}`);
    for (const from of ['metadata_history', 'metadata_history_object'])
      for (const place of [1, 0]) {
        for (const text of ['a', 'b', 'c']) await comment(text);
        const entries = (await history(one, { limit: 3 })).map(({ resource_version }) => resource_version);
        const [deleted = 0, before = 0] = entries.slice(place);
        await version(before);
        await remove(from, deleted);
        expect(await completeSince(two)).toBe(deleted);
        await expect(version(before)).rejects.toThrow('not-exists');
        await version(deleted);
        await comment('d');
        await expect(version(before)).rejects.toThrow('not-exists');
        await version(deleted);
      }
  });

  it('is for administrators only', async () => {
    for (const type of ['get_metadata_history', 'get_metadata_change', 'get_metadata_version', 'clear_metadata_history']) {
      const answer = await send({ type, args: { resource_version: 2 } }, { 'x-svc-role': 'user' });
      expect(answer).toMatchObject({ status: 400, json: { code: 'access-denied' } });
    }
  });
});
