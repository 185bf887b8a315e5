/** Fragments on types that the role's schema does not have are rejected; those on other types of it select nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
  await service.sql('create table album (id int primary key); create table artist (id int primary key); insert into album values (1)');
  for (const table of ['album', 'artist']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_select_permission', { table: 'album', role: 'user', permission: { columns: '*', filter: {} } });
});
afterAll(() => service.stop());

function refused(name: string, path: string) {
  return { message: `no object type, interface or union is named '${name}'`, extensions: { code: 'validation-failed', path } };
}

const SELECTED = '$.selectionSet.album.selectionSet';

describe('a fragment on a type that does not exist', () => {
  it.each([
    ['inline', '{ album { id ... on albun { id } } }'],
    ['named', '{ album { ...f } } fragment f on albun { id }'],
    ['nested', '{ album { ... on album { ... on albun { id } } } }'],
  ])('is rejected, %s', async (_form, query) => {
    const { errors } = (await service.graphql(query)) as { errors: readonly object[] };
    expect(errors).toMatchObject([refused('albun', SELECTED)]);
    expect(errors).toMatchObject([{ extensions: { suggestions: ['album'] } }]);
  });

  it('is rejected at the root, in a mutation and by explain', async () => {
    expect(await service.graphql('{ ... on query { album { id } } }')).toMatchObject({ errors: [refused('query', '$.selectionSet')] });
    const mutation = 'mutation { delete_album(where: {id: {_eq: 2}}) { ... on albums { affected_rows } } }';
    const path = '$.selectionSet.delete_album.selectionSet';
    expect(await service.graphql(mutation)).toMatchObject({ errors: [refused('albums', path)] });
    const body = JSON.stringify({ query: { query: '{ album { ... on albun { id } } }' } });
    expect((await service.send('/v1/graphql/explain', { method: 'POST', body })).json).toMatchObject({
      ...refused('albun', SELECTED).extensions,
      error: refused('albun', SELECTED).message,
    });
  });

  it('is rejected each time, also if the operation is cached', async () => {
    const query = '{ album { id ... on nope { id } } }';
    for (let time = 0; time < 2; time++) expect(await service.graphql(query)).toMatchObject({ errors: [refused('nope', SELECTED)] });
  });

  it('is rejected on an input type and on a scalar', async () => {
    for (const name of ['album_bool_exp', 'Int'])
      expect(await service.graphql(`{ album { ... on ${name} { id } } }`)).toMatchObject({ errors: [refused(name, SELECTED)] });
  });

  it('is rejected in a subscription', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    socket.start('1', 'subscription { album { id ... on albun { id } } }');
    const [message] = await socket.take(1);
    expect(message).toMatchObject({ type: 'error', payload: [refused('albun', SELECTED)] });
    socket.close();
  });
});

describe('a fragment on another type of the schema', () => {
  const query = '{ album { id ... on artist { id } ...f } } fragment f on album_aggregate { nodes { id } }';

  it('selects nothing', async () => {
    expect(await service.graphql(query)).toEqual({ data: { album: [{ id: 1 }] } });
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    socket.start('1', `subscription ${query}`);
    expect(await socket.take(1)).toMatchObject([{ type: 'next', payload: { data: { album: [{ id: 1 }] } } }]);
    socket.close();
  });

  it('is rejected for a role whose schema does not have the type', async () => {
    expect(await service.graphql(query, { role: 'user' })).toMatchObject({ errors: [refused('artist', SELECTED)] });
  });

  it('is not checked if it is skipped', async () => {
    expect(await service.graphql('{ album { id ... on albun @skip(if: true) { id } } }')).toEqual({ data: { album: [{ id: 1 }] } });
  });
});

it('checks fragments of clients of Relay with their schema', async () => {
  const node = (type: string) =>
    service.graphql(`{ node(id: "${Buffer.from('[1, "public", "album", 1]').toString('base64')}") { ... on ${type} { __typename } } }`, {
      path: '/v1beta1/relay',
    });
  expect(await node('artist')).toEqual({ data: { node: {} } });
  expect(await node('albun')).toMatchObject({ errors: [refused('albun', '$.selectionSet.node.selectionSet')] });
});

it('selects nothing while a source is unavailable, to which the type may belong', async () => {
  const query = '{ album { id ... on of_the_other { id } } }';
  expect(await service.graphql(query)).toMatchObject({ errors: [refused('of_the_other', SELECTED)] });
  await service.metadata('pg_add_source', {
    name: 'other',
    configuration: { connection_info: { database_url: service.databaseUrl, pool_settings: { max_connections: 1 } } },
  });
  const metadata = (await service.metadata('export_metadata', {})) as { sources: JsonObject[] };
  const sources = metadata.sources.map((source) =>
    source.name === 'other' ? { ...source, configuration: { connection_info: { database_url: 'postgres://127.0.0.1:1/none' } } } : source,
  );
  await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata: { ...metadata, sources } });
  expect(await service.graphql(query)).toEqual({ data: { album: [{ id: 1 }] } });
  await service.metadata('replace_metadata', { allow_inconsistent_metadata: true, metadata });
});
