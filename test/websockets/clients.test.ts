/** Common client libraries against the service: queries, mutations, live queries and streams. */
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client as UrqlClient, cacheExchange, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient } from 'graphql-ws';
import { SubscriptionClient } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let wsUrl: string;
let httpUrl: string;
const HEADERS = { 'x-svc-admin-secret': 'secret', 'x-svc-role': 'user' };
const LIVE = 'subscription ($of: String!) { message(where: {of: {_eq: $of}}, order_by: {id: asc}) { text } }';
const STREAM =
  'subscription ($of: String!) { message_stream(batch_size: 1, cursor: {initial_value: {id: 0}}, where: {of: {_eq: $of}}) { text } }';
const INSERT = 'mutation ($of: String!, $text: String!) { insert_message_one(object: {of: $of, text: $text}) { text } }';

beforeAll(async () => {
  service = await startTestService({
    ADMIN_SECRET: 'secret',
    LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '50',
    STREAMING_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: '50',
  });
  await service.sql('create table message (id serial primary key, of text, text text)');
  await service.metadata('pg_track_table', { table: 'message' });
  await service.metadata('pg_create_select_permission', { table: 'message', role: 'user', permission: { columns: '*', filter: {} } });
  await service.metadata('pg_create_insert_permission', { table: 'message', role: 'user', permission: { columns: '*', check: {} } });
  httpUrl = `${service.url}/v1/graphql`;
  wsUrl = httpUrl.replace('http', 'ws');
});
afterAll(() => service.stop());

/** The results of a subscription, in order. */
class Results {
  readonly #come: unknown[] = [];
  readonly #waiting: ((result: unknown) => void)[] = [];
  readonly add = (result: unknown): void => {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#come.push(result);
    else waiting(result);
  };
  next(): Promise<unknown> {
    if (this.#come.length > 0) return Promise.resolve(this.#come.shift());
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }
}

const texts = (...list: string[]): object => ({ data: { message: list.map((text) => ({ text })) } });
const streamed = (text: string): object => ({ data: { message_stream: [{ text }] } });
const inserted = (text: string): object => ({ data: { insert_message_one: { text } } });

it('works with graphql-ws', async () => {
  const client = createWsClient({ url: wsUrl, webSocketImpl: WebSocket, connectionParams: { headers: HEADERS } });
  const variables = { of: 'graphql-ws' };
  const live = new Results();
  const sink = { next: live.add, error: live.add, complete: () => live.add('complete') };
  const stop = client.subscribe({ query: LIVE, variables }, sink);
  expect(await live.next()).toEqual(texts());
  for await (const result of client.iterate({ query: INSERT, variables: { ...variables, text: 'a' } }))
    expect(result).toEqual(inserted('a'));
  expect(await live.next()).toEqual(texts('a'));
  await service.sql("insert into message (of, text) values ('graphql-ws', 'b')");
  expect(await live.next()).toEqual(texts('a', 'b'));
  stop();
  const stream = client.iterate({ query: STREAM, variables });
  expect((await stream.next()).value).toEqual(streamed('a'));
  expect((await stream.next()).value).toEqual(streamed('b'));
  await stream.return?.();
  expect(await live.next()).toBe('complete');
  await client.dispose();
});

it('works with subscriptions-transport-ws', async () => {
  const client = new SubscriptionClient(wsUrl, { connectionParams: { headers: HEADERS } }, WebSocket);
  const variables = { of: 'subscriptions-transport-ws' };
  const live = new Results();
  const { unsubscribe } = client.request({ query: LIVE, variables }).subscribe({ next: live.add, error: live.add });
  expect(await live.next()).toEqual(texts());
  const mutation = new Results();
  client
    .request({ query: INSERT, variables: { ...variables, text: 'a' } })
    .subscribe({ next: mutation.add, error: mutation.add, complete: () => mutation.add('complete') });
  expect([await mutation.next(), await mutation.next()]).toEqual([inserted('a'), 'complete']);
  expect(await live.next()).toEqual(texts('a'));
  unsubscribe();
  const failing = new Results();
  client.request({ query: 'subscription { nothing { id } }' }).subscribe({ next: failing.add, error: failing.add });
  expect(await failing.next()).toMatchObject({ message: "field 'nothing' not found in type: 'subscription_root'" });
  client.close();
});

it('works with graphql-sse', async () => {
  const client = createSseClient({ url: httpUrl, headers: HEADERS });
  const variables = { of: 'graphql-sse' };
  const live = client.iterate({ query: LIVE, variables });
  expect((await live.next()).value).toEqual(texts());
  for await (const result of client.iterate({ query: INSERT, variables: { ...variables, text: 'a' } }))
    expect(result).toEqual(inserted('a'));
  expect((await live.next()).value).toEqual(texts('a'));
  await live.return?.();
  client.dispose();
});

it('works with urql over a websocket and over server-sent events', async () => {
  const ws = createWsClient({ url: wsUrl, webSocketImpl: WebSocket, connectionParams: { headers: HEADERS } });
  const overSocket = subscriptionExchange({
    forwardSubscription: ({ query = '', variables }) => ({
      subscribe: (sink) => ({ unsubscribe: ws.subscribe({ query, ...(variables === undefined ? {} : { variables }) }, sink) }),
    }),
  });
  for (const [name, exchange] of [
    ['socket', overSocket],
    ['events', null],
  ] as const) {
    const client = new UrqlClient({
      url: httpUrl,
      fetchOptions: { headers: HEADERS },
      fetchSubscriptions: exchange === null,
      preferGetMethod: false,
      exchanges: exchange === null ? [cacheExchange, fetchExchange] : [cacheExchange, exchange, fetchExchange],
    });
    const variables = { of: `urql ${name}` };
    const live = new Results();
    const { unsubscribe } = client.subscription(LIVE, variables).subscribe(({ data, error }) => live.add(error ?? { data }));
    expect(await live.next()).toMatchObject(texts());
    expect((await client.mutation(INSERT, { ...variables, text: 'a' })).data).toMatchObject({ insert_message_one: { text: 'a' } });
    expect(await live.next()).toMatchObject(texts('a'));
    unsubscribe();
  }
  await ws.dispose();
});

it('works with Apollo Client', async () => {
  const ws = createWsClient({ url: wsUrl, webSocketImpl: WebSocket, connectionParams: { headers: HEADERS } });
  const link = ApolloLink.split(
    ({ operationType }) => operationType === 'subscription',
    new GraphQLWsLink(ws),
    new HttpLink({ uri: httpUrl, headers: HEADERS }),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache({ addTypename: false } as never) });
  const variables = { of: 'apollo' };
  const live = new Results();
  const subscription = client
    .subscribe({ query: gql(LIVE), variables })
    .subscribe({ next: ({ data }) => live.add({ data }), error: live.add });
  expect(await live.next()).toMatchObject(texts());
  const { data } = await client.mutate({ mutation: gql(INSERT), variables: { ...variables, text: 'a' } });
  expect(data).toMatchObject({ insert_message_one: { text: 'a' } });
  expect(await live.next()).toMatchObject(texts('a'));
  subscription.unsubscribe();
  client.stop();
  await ws.dispose();
});
