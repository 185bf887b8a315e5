/** Groups outside of a plain query: REST endpoints, cached answers, live queries, batches. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { MODERN, TestSocket } from '../support/websocket.ts';
import { useLibrary } from './library.ts';

const library = useLibrary();
const ADMIN = { 'x-svc-admin-secret': 'hush' };
const READER = { ...ADMIN, 'x-svc-role': 'reader' };
const DOCUMENT =
  'query Titles($views: Int!) { article_aggregate(where: {views: {_gte: $views}}) { groups { key { title } aggregate { count } } } }';
const titles = (...counts: readonly (readonly [string, number])[]): Json => ({
  groups: counts.map(([title, count]) => ({ key: { title }, aggregate: { count } })),
});

describe('a REST endpoint', () => {
  beforeEach(async () => {
    const queries = [{ name: 'titles', query: DOCUMENT.replace('{views: {_gte', '{id: {_gte') }];
    await library().metadata('create_query_collection', { name: 'reports', definition: { queries } });
    await library().metadata('create_rest_endpoint', {
      name: 'titles',
      url: 'titles/:views',
      methods: ['GET'],
      definition: { query: { collection_name: 'reports', query_name: 'titles' } },
    });
  });
  afterEach(async () => {
    await library().metadata('drop_rest_endpoint', { name: 'titles' });
    await library().metadata('drop_query_collection', { collection: 'reports', cascade: false });
  });

  it('has the groups of the role', async () => {
    const read = async (from: number, headers: Record<string, string>): Promise<Json> =>
      (await library().send(`/api/rest/titles/${from}`, { headers })).json;
    expect(await read(2, ADMIN)).toEqual({ article_aggregate: titles(['x', 1], ['y', 2], ['z', 2]) });
    expect(await read(7, ADMIN)).toEqual({ article_aggregate: titles() });
  });
});

it('keeps cached groups of roles and variables apart', async () => {
  const ask = async (headers: Record<string, string>, query: string): Promise<readonly [Json, string | null]> => {
    const body = JSON.stringify({ query });
    const answer = await library().send('/v1/graphql', { method: 'POST', headers, body });
    return [(answer.json as { data: JsonObject }).data['article_aggregate'] as Json, answer.headers.get('cache-control')];
  };
  const cached = 'query @cached(ttl: 60) { article_aggregate { groups { key { title } aggregate { count } } } }';
  const all = titles(['x', 2], ['y', 2], ['z', 2]);
  const some = titles(['x', 2], ['y', 2]);
  for (const [headers, expected] of [
    [ADMIN, all],
    [READER, some],
    [ADMIN, all],
    [READER, some],
  ] as const) {
    const [answer, control] = await ask(headers, cached);
    expect(answer).toEqual(expected);
    expect(control).toMatch(/^private, max-age=\d+$/);
  }
});

it('sends a live query the groups that change', async () => {
  const socket = new TestSocket(library().url, { protocol: MODERN });
  await socket.init(ADMIN);
  socket.start(
    '1',
    'subscription { loose_aggregate { groups(order_by: {aggregate: {count: desc}}) { key { title } aggregate { count sum { views } } } } }',
  );
  const next = async (): Promise<Json> => {
    const message = (await socket.next()) as { payload: { data: { loose_aggregate: Json } } };
    return message.payload.data.loose_aggregate;
  };
  const group = (title: string, count: number, views: number) => ({ key: { title }, aggregate: { count, sum: { views } } });
  expect(await next()).toEqual({ groups: [group('a', 2, 3), group('b', 1, 3)] });
  await library().sql(`insert into loose values ('b', 4), ('b', 5)`);
  expect(await next()).toEqual({ groups: [group('b', 3, 12), group('a', 2, 3)] });
  await library().sql(`delete from loose where views > 3`);
  expect(await next()).toEqual({ groups: [group('a', 2, 3), group('b', 1, 3)] });
  socket.close();
});

it('answers several groups in a batch, each with the permissions of the role', async () => {
  const items = [10, 30].map((views) => ({
    query: DOCUMENT.replace('where: {views: {_gte: $views}}', `limit: $views`),
    variables: { views: views / 10 },
  }));
  const answer = await library().send('/v1/graphql', { method: 'POST', headers: READER, body: JSON.stringify(items) });
  expect(answer.json).toEqual([
    { data: { article_aggregate: titles(['x', 1]) } },
    { data: { article_aggregate: titles(['x', 2], ['y', 1]) } },
  ]);
});
