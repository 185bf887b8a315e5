import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;

/** The statement itself, as the database sees it. */
const SEEN = 'create function seen() returns setof told language sql stable as $$ select 1, current_query() $$';

beforeAll(async () => {
  // A single connection, whose prepared statements are those of the service.
  service = await startTestService({ PG_CONNECTIONS: '1' });
  await service.sql(`create table told (id int primary key, text text); ${SEEN};
    create table note (id int primary key, text text default current_query());
    create function prepared() returns setof told language sql stable as
      $$ select row_number() over ()::int, statement from pg_prepared_statements where statement like '%seen%' and statement not like '%pg_prepared%' $$`);
  for (const table of ['told', 'note']) await service.metadata('pg_track_table', { table });
  for (const name of ['seen', 'prepared']) await service.metadata('pg_track_function', { function: name });
});
afterAll(() => service.stop());

async function seen(name: string, more: Record<string, string> = {}): Promise<string> {
  const query = `query ${name} { seen { text } }`;
  const { json } = await service.send('/v1/graphql', { method: 'POST', headers: more, body: JSON.stringify({ query }) });
  return (json as { data: { seen: { text: string }[] } }).data.seen[0]?.text ?? '';
}

async function prepared(): Promise<number> {
  const { data } = (await service.graphql('{ prepared { text } }')) as { data: { prepared: unknown[] } };
  return data.prepared.length;
}

it('adds no comments by default', async () => {
  expect(await seen('A')).not.toContain('/*');
  expect(await seen('A')).toBe(await seen('B'));
});

it.each([
  ['standard', /\/\* application=svc-graphql,operation_name=Named,parameterized_query_hash=[0-9a-f]{40} \*\/$/],
  ['standard_prepended', /^\/\* application=svc-graphql,operation_name=Named,parameterized_query_hash=[0-9a-f]{40} \*\/ /],
  ['sqlcommenter', /\/\*application='svc-graphql',operation_name='Named',parameterized_query_hash='[0-9a-f]{40}'\*\/$/],
])('adds the operation name in the format %s', async (format, form) => {
  await service.metadata('set_query_tags', { source_name: 'default', format });
  expect(await seen('Named')).toMatch(form);
  expect(await service.metadata('export_metadata', {})).toMatchObject({
    sources: [{ query_tags: format === 'standard' ? {} : { format } }],
  });
  const written = await service.graphql(
    'mutation Add { insert_note_one(object: {id: 1}) { text } delete_note(where: {}) { affected_rows } }',
  );
  expect((written['data'] as { insert_note_one: JsonObject }).insert_note_one['text']).toMatch(/operation_name='?Add/);
});

it('prepares a statement once for each operation', async () => {
  await service.metadata('set_query_tags', { source_name: 'default' });
  const before = await prepared();
  for (let i = 0; i < 5; i++) await seen('Often');
  expect(await prepared()).toBe(before + 1);
});

it('adds the request id if configured, without prepared statements', async () => {
  await service.metadata('set_query_tags', { source_name: 'default', format: 'sqlcommenter', omit_request_id: false });
  const before = await prepared();
  const text = await seen('Often', { 'x-request-id': '*/;drop' });
  expect(text).toMatch(/request_id='%2A%2F%3Bdrop'\*\/$/);
  for (let i = 0; i < 5; i++) await seen('Often');
  expect(await prepared()).toBe(before);
});

it('leaves shared statements of subscribers and cached answers unchanged', async () => {
  await service.metadata('set_query_tags', { source_name: 'default' });
  const socket = await new TestSocket(service.url, { protocol: MODERN }).opened();
  socket.send({ type: 'connection_init', payload: {} });
  await socket.next();
  for (const id of ['1', '2']) {
    socket.send({ id, type: 'subscribe', payload: { query: `subscription Of${id} { seen { text } }` } });
    expect(JSON.stringify(await socket.next())).not.toContain('operation_name');
  }
  socket.websocket.close();
  const kept = async (name: string) =>
    service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query: `query ${name} @cached { note { id } }` }) });
  expect((await kept('One')).headers.get('x-svc-query-cache-key')).toBe((await kept('Two')).headers.get('x-svc-query-cache-key'));
});

it('can be disabled again', async () => {
  await service.metadata('set_query_tags', { source_name: 'default', disabled: true });
  expect(await seen('Named')).not.toContain('/*');
});
