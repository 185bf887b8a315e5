/** Metadata requests that clients of Hasura send. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.sql('create table item (id int primary key, name text)');
});
beforeEach(async () => {
  await service.metadata('clear_metadata', {});
});
afterAll(() => service?.stop());

const exported = async (): Promise<JsonObject> => (await service.metadata('export_metadata', {})) as JsonObject;
const post = async (path: string, body: Json) => service.send(path, { method: 'POST', body: JSON.stringify(body) });

test.each(['/v1/metadata', '/v1/query'])('clear_metadata of %s keeps an empty source default', async (path) => {
  await service.metadata('pg_update_source', { name: 'default', customization: { root_fields: { prefix: 'p_' } } });
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('create_query_collection', { name: 'c', definition: { queries: [] } });
  const before = ((await exported())['sources'] as readonly JsonObject[])[0] as JsonObject;
  const { status, text } = await post(path, { type: 'clear_metadata', args: {} });
  expect(status, text).toBe(200);
  const { name, kind, configuration } = before;
  expect(await exported()).toEqual({ version: 3, sources: [{ name, kind, configuration, tables: [] }] });
});

test('clear_metadata removes sources of other names', async () => {
  const { configuration } = ((await exported())['sources'] as readonly JsonObject[])[0] as JsonObject;
  await service.metadata('pg_add_source', { name: 'other', configuration: configuration ?? {} });
  await service.metadata('clear_metadata', {});
  expect(((await exported())['sources'] as readonly JsonObject[]).map(({ name }) => name)).toEqual(['default']);
});

test('reload_metadata accepts one source', async () => {
  expect(await service.metadata('reload_metadata', { source: 'default' })).toMatchObject({ message: 'success' });
  const refused = await post('/v1/metadata', { type: 'reload_metadata', args: { source: 'none' } });
  expect([refused.status, refused.json]).toEqual([400, expect.objectContaining({ code: 'not-exists' })]);
  const both = await post('/v1/metadata', { type: 'reload_metadata', args: { source: 'default', reload_sources: true } });
  expect([both.status, both.json]).toEqual([400, expect.objectContaining({ code: 'parse-failed' })]);
});

test('create_action_permission accepts the definition of older versions', async () => {
  await service.metadata('set_custom_types', { objects: [{ name: 'Out', fields: [{ name: 'id', type: 'Int!' }] }] });
  await service.metadata('create_action', {
    name: 'act',
    definition: { kind: 'synchronous', arguments: [], output_type: 'Out', handler: 'http://127.0.0.1:1/' },
  });
  const definition = { select: { filter: {}, columns: ['id'] } };
  await service.metadata('create_action_permission', { action: 'act', role: 'user', definition });
  const document = await exported();
  const permissions = [{ role: 'user', definition }];
  expect(document['actions']).toMatchObject([{ name: 'act', permissions }]);
  await service.metadata('replace_metadata', document);
  expect((await exported())['actions']).toMatchObject([{ name: 'act', permissions }]);
});
