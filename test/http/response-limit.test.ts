/** `--response-limit`: database results of one operation over the limit are rejected before they are buffered. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { hasMariadb, startMariadb, type TestMariadb } from '../support/mariadb.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';

const LIMIT = 20_000;
const refused = (message = `the response exceeds ${LIMIT} bytes`) => ({ message, extensions: { path: '$', code: 'bad-request' } });
const DONE = `the response exceeds ${LIMIT} bytes. The mutation was committed; its answer was not sent`;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ RESPONSE_LIMIT: String(LIMIT) });
  await service.sql(`create table item (id int primary key, name text, n int not null default 0);
    insert into item select n, repeat('name ', 50) || n from generate_series(1, 100) n`);
  await service.metadata('pg_track_table', { table: 'item' });
});
afterAll(() => service.stop());

const few = '{ item(limit: 20) { name } }';
const changed = async (): Promise<Json> => (await service.graphql('{ item_aggregate { aggregate { sum { n } } } }'))['data'] ?? null;
const sum = (n: number) => ({ item_aggregate: { aggregate: { sum: { n } } } });

describe('a result over the response limit', () => {
  it('is rejected without affecting concurrent requests', async () => {
    const all = '{ item { name } }';
    const [large, small] = await Promise.all([service.graphql(all), service.graphql(few)]);
    expect(large).toMatchObject({ errors: [refused()] });
    expect((small as { data: { item: Json[] } }).data.item).toHaveLength(20);
    // Including requests on the same connection.
    for (let i = 0; i < 20; i++) expect(await service.graphql('{ item(limit: 1) { id } }')).toEqual({ data: { item: [{ id: 1 }] } });
  });

  it('counts all fields together', async () => {
    const half = 'item(limit: 50) { name }';
    expect(await service.graphql(`{ ${half} }`)).toMatchObject({ data: {} });
    expect(await service.graphql(`{ a: ${half} b: ${half} }`)).toMatchObject({ errors: [refused()] });
  });

  it('is reported as such if the mutation is committed', async () => {
    const mutation = 'mutation { update_item(where: {}, _inc: {n: 1}) { affected_rows returning { name } } }';
    expect(await service.graphql(mutation)).toMatchObject({ errors: [refused(DONE)] });
    expect(await changed()).toEqual(sum(100));
  });

  it('is rejected in data operations', async () => {
    const select = (limit: number) =>
      service.send('/v2/query', {
        method: 'POST',
        body: JSON.stringify({ type: 'select', args: { table: 'item', columns: ['name'], limit } }),
      });
    expect((await select(20)).json).toHaveLength(20);
    expect((await select(100)).json).toMatchObject({ error: refused().message, code: 'bad-request' });
  });

  it('is rejected in a batch with a higher total', async () => {
    const body = JSON.stringify([{ query: '{ item { name } }' }, { query: few }]);
    expect((await service.send('/v1/graphql', { method: 'POST', body })).json).toMatchObject([{ errors: [refused()] }, { data: {} }]);
  });

  it('ends only the subscription that it belongs to', async () => {
    const socket = await new TestSocket(service.url, { protocol: MODERN }).init();
    const query = 'subscription ($most: Int!) { item(where: {id: {_lte: $most}}) { name } }';
    const subscribe = (id: string, most: number): void => socket.send({ type: 'subscribe', id, payload: { query, variables: { most } } });
    subscribe('large', 100);
    subscribe('small', 20);
    const answers = new Map((await socket.take(2)).map((message) => [message['id'], message]));
    expect(answers.get('large')).toMatchObject({ type: 'next', payload: { errors: [refused()] } });
    expect((answers.get('small') as JsonObject)['payload']).toMatchObject({ data: {} });
    socket.websocket.close();
  });
});

describe.skipIf(!hasMariadb())('a MariaDB result over the response limit', () => {
  let server: TestMariadb;
  beforeAll(async () => {
    server = await startMariadb();
    await server.run(`create database shop; use shop; create table thing (id int primary key, name text, n int not null default 0);
      insert into thing select seq, repeat('name ', 50), 0 from seq_1_to_100`);
    await service.metadata('dbb_add_source', {
      name: 'shop',
      configuration: { connection_info: { connection_string: server.url('shop') } },
    });
    await service.metadata('dbb_track_table', { source: 'shop', table: 'thing' });
  });
  afterAll(() => server.stop());
  const total = async (): Promise<Json> => (await service.graphql('{ thing(limit: 1) { n } }'))['data'] ?? null;

  it('is rejected', async () => {
    expect(await service.graphql('{ thing { name } }')).toMatchObject({ errors: [refused()] });
    expect(await service.graphql('{ thing(limit: 1) { id } }')).toEqual({ data: { thing: [{ id: 1 }] } });
  });

  it('rolls the transaction back', async () => {
    const mutation = 'mutation { update_thing(where: {}, _inc: {n: 1}) { affected_rows returning { name } } }';
    expect(await service.graphql(mutation)).toMatchObject({ errors: [refused()] });
    expect(await total()).toEqual({ thing: [{ n: 0 }] });
  });

  it('is reported as such if the mutation is committed', async () => {
    const mutation = 'mutation { delete_thing(where: {id: {_gt: 1}}) { returning { name } } }';
    expect(await service.graphql(mutation)).toMatchObject({ errors: [refused(DONE)] });
    expect(await service.graphql('{ thing { id } }')).toEqual({ data: { thing: [{ id: 1 }] } });
  });
});
