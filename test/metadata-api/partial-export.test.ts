import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql(
    'create table author (id int primary key); create table article (id int primary key); create schema far; create table far.off (id int)',
  );
  const configuration = { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } };
  await service.metadata('bulk', [
    { type: 'pg_track_table', args: 'author' },
    { type: 'pg_track_table', args: 'article' },
    { type: 'pg_create_select_permission', args: { table: 'author', role: 'user', permission: { columns: '*', filter: {} } } },
    { type: 'pg_create_delete_permission', args: { table: 'article', role: 'editor', permission: { filter: {} } } },
    { type: 'pg_add_source', args: { name: 'other', configuration, customization: { root_fields: { prefix: 'other_' } } } },
    { type: 'pg_track_table', args: { source: 'other', table: { schema: 'far', name: 'off' } } },
    { type: 'create_query_collection', args: { name: 'shop', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } } },
    { type: 'add_inherited_role', args: { role_name: 'both', role_set: ['user', 'editor'] } },
  ]);
});
afterAll(() => service.stop());

const whole = async (): Promise<JsonObject> => (await service.metadata('export_metadata', {})) as JsonObject;
const only = (selection: Json): Promise<Json> => service.metadata('export_metadata', { only: selection });
const sourceOf = (document: JsonObject, name: string): JsonObject =>
  (document['sources'] as JsonObject[]).find((source) => source['name'] === name) as JsonObject;
const tableOf = (document: JsonObject, source: string, table: string): Json =>
  (sourceOf(document, source)['tables'] as JsonObject[]).find((each) => (each['table'] as JsonObject)['name'] === table) as Json;

it('exports selected tables as in the whole document', async () => {
  const document = await whole();
  expect(await only({ tables: [{ table: 'author' }, { source: 'other', table: { schema: 'far', name: 'off' } }] })).toEqual({
    version: 3,
    sources: [
      { name: 'default', kind: 'pg', tables: [tableOf(document, 'default', 'author')] },
      { name: 'other', kind: 'pg', tables: [tableOf(document, 'other', 'off')] },
    ].map((source) => ({ ...source, kind: sourceOf(document, source.name)['kind'] })),
  });
});

it('exports sources without their tables', async () => {
  const { tables: _, ...rest } = sourceOf(await whole(), 'other');
  expect(await only({ sources: ['other'] })).toEqual({ version: 3, sources: [rest] });
});

it('exports sections', async () => {
  const { version, query_collections, inherited_roles, sources } = await whole();
  expect(await only({ sections: ['query_collections', 'inherited_roles', 'actions'] })).toEqual({
    version,
    query_collections,
    inherited_roles,
  });
  expect(await only({ sections: ['sources'] })).toEqual({ version, sources });
  expect(await only({})).toEqual({ version });
});

it('returns the version in its second form', async () => {
  const { resource_version: now } = (await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject;
  const answer = await service.metadata('export_metadata', { only: { tables: [{ table: 'article' }] } }, { version: 2 });
  expect(answer).toMatchObject({ resource_version: now, metadata: { sources: [{ name: 'default' }] } });
});

it.each<[Json, string, string]>([
  [{ tables: [{ table: 'nothing' }] }, 'not-exists', '$.args.only.tables[0]'],
  [{ tables: [{ table: 'author' }, { source: 'nowhere', table: 'author' }] }, 'not-exists', '$.args.only'],
  [{ sources: ['nowhere'] }, 'not-exists', '$.args.only'],
  [{ sections: ['nothing'] }, 'parse-failed', '$.args.only.sections[0]'],
  [{ tables: [{ table: 1 }] }, 'parse-failed', '$.args.only.tables[0].table'],
  [{ table: 'author' }, 'parse-failed', '$.args.only.table'],
])('refuses %j', async (selection, code, path) => {
  await expect(only(selection)).rejects.toThrow(new RegExp(`"path":"${path.replace(/[$.[\]]/g, '\\$&')}".*"code":"${code}"`));
});
