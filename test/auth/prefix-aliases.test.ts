import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const KEY = 'a secret of more than thirty two characters';
let service: TestService;
let upstream: Server;
const seen: Record<string, unknown>[] = [];

beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ headers: request.headers, body: JSON.parse(body) });
    response.setHeader('content-type', 'application/json').end('"pong"');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  service = await startTestService({
    ADMIN_SECRET: 'sesame',
    SESSION_PREFIX_ALIASES: 'X-Hasura-',
    JWT_SECRET: JSON.stringify({ type: 'HS256', key: KEY }),
  });
  await service.sql(`create table note (id int primary key, owner text, seen text);
    create function note_reader(note note, session json) returns text language sql stable as $$ select session ->> 'x-hasura-user-id' $$;
    create function stamp() returns trigger language plpgsql as $$ begin
      new.seen := (current_setting('hasura.user')::json ->> 'x-hasura-user-id') || '/' || (current_setting('svc.user')::json ->> 'x-svc-user-id');
      return new; end $$;
    create trigger stamp before insert on note for each row execute function stamp()`);
  await service.metadata('pg_track_table', { table: 'note' });
  await service.metadata('pg_add_computed_field', {
    table: 'note',
    name: 'reader',
    definition: { function: 'note_reader', table_argument: 'note', session_argument: 'session' },
  });
  const permission = { columns: ['id', 'owner', 'seen'], computed_fields: ['reader'], filter: { owner: { _eq: 'X-Svc-User-Id' } } };
  await service.metadata('pg_create_select_permission', { table: 'note', role: 'user', permission });
  await service.metadata('pg_create_insert_permission', {
    table: 'note',
    role: 'user',
    permission: { columns: ['id'], check: {}, set: { owner: 'X-Svc-User-Id' } },
  });
  const handler = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`;
  await service.metadata('create_action', {
    name: 'ping',
    definition: { type: 'query', handler, output_type: 'String', arguments: [], forward_client_headers: true },
  });
  await service.metadata('create_action_permission', { action: 'ping', role: 'user' });
  await service.metadata('pg_create_event_trigger', { name: 'noted', table: 'note', webhook: handler, insert: { columns: '*' } });
});
afterAll(async () => {
  await service.stop();
  upstream.close();
});

async function graphql(query: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return (await service.send('/v1/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) })).json;
}

it('accepts headers and the admin secret with the other prefix, and gives SQL both names', async () => {
  const headers = { 'X-Hasura-Admin-Secret': 'sesame', 'x-hasura-role': 'user', 'X-Hasura-User-Id': '7' };
  expect(await graphql('mutation { insert_note_one(object: {id: 1}) { owner seen reader } }', headers)).toEqual({
    data: { insert_note_one: { owner: '7', seen: '7/7', reader: '7' } },
  });
  const noted = () => seen.map(({ body }) => body as { event?: { session_variables: unknown } }).find(({ event }) => event !== undefined);
  await expect.poll(noted, WAIT).toBeDefined();
  expect(noted()?.event?.session_variables).toMatchObject({ 'x-svc-user-id': '7', 'x-hasura-user-id': '7', 'x-hasura-role': 'user' });
  // The native name has priority.
  expect(await graphql('{ note { id } }', { ...headers, 'x-svc-user-id': '8' })).toEqual({ data: { note: [] } });
});

it('accepts tokens of the other namespace', async () => {
  const claims = { 'x-hasura-allowed-roles': ['user'], 'x-hasura-default-role': 'user', 'X-Hasura-User-Id': '7' };
  const token = await new SignJWT({ 'https://hasura.io/jwt/claims': claims }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(KEY));
  expect(await graphql('{ note { id reader } }', { authorization: `Bearer ${token}` })).toEqual({
    data: { note: [{ id: 1, reader: '7' }] },
  });
  // A client's own claims are neither accepted nor forwarded, as with the native prefix.
  expect(await graphql('{ ping }', { authorization: `Bearer ${token}`, 'x-hasura-user-id': '1', 'x-hasura-made-up': '1' })).toEqual({
    data: { ping: 'pong' },
  });
  const calls = seen as { headers: Record<string, string>; body: { action?: object; session_variables: Record<string, string> } }[];
  const call = calls.find(({ body }) => body.action !== undefined);
  expect(call?.body.session_variables).toEqual({
    'x-svc-role': 'user',
    'x-svc-user-id': '7',
    'x-hasura-role': 'user',
    'x-hasura-user-id': '7',
  });
  expect(Object.keys(call?.headers ?? {}).filter((name) => name.startsWith('x-hasura-'))).toEqual([]);
});

it('returns a Vary header for a cached answer with the names that were sent', async () => {
  const headers = { 'X-Hasura-Admin-Secret': 'sesame', 'x-hasura-role': 'user', 'X-Hasura-User-Id': '7' };
  const body = JSON.stringify({ query: 'query @cached { note { id } }' });
  const answer = await service.send('/v1/graphql', { method: 'POST', headers, body });
  const names = (answer.headers.get('vary') ?? '').split(', ');
  expect(names).toEqual(
    expect.arrayContaining(['authorization', 'cookie', 'x-svc-role', 'x-hasura-role', 'x-hasura-admin-secret', 'x-hasura-user-id']),
  );
  expect(new Set(names).size).toBe(names.length);
});
