import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Subscription } from '../../src/subscriptions/subscriptions.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { refusal } from '../metadata-api/support.ts';
import { type Recorder, session, type TestSubscriptions, testSubscriptions } from './support.ts';

const open: { subscription: Subscription }[] = [];
let service: TestSubscriptions;

beforeAll(async () => {
  service = await testSubscriptions(`
    create table event (id int primary key, at timestamptz, grade int, note text, about int);
    create table topic (id int primary key, name text not null);
    alter table event add foreign key (about) references topic;
  `);
  for (const table of ['event', 'topic']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_object_relationship', { table: 'event', name: 'topic', using: { foreign_key_constraint_on: 'about' } });
});
afterAll(() => service.close());
beforeEach(() => service.client.query(`truncate event, topic; insert into topic values (1, 'sea')`));
afterEach(() => {
  for (const { subscription } of open.splice(0)) subscription.close();
});

async function subscribe(...of: Parameters<TestSubscriptions['open']>): ReturnType<TestSubscriptions['open']> {
  const opened = await service.open(...of);
  open.push(opened);
  return opened;
}

const insert = (from: number, to: number): Promise<unknown> =>
  service.client.query(
    `insert into event (id, at, grade, about) select i, '2020-01-01'::timestamptz + i * interval '1 microsecond', i / 3, 1
    from generate_series($1::int, $2::int) i`,
    [from, to],
  );
const batches = ({ data }: Recorder, key = 'id'): readonly Json[] =>
  data.map((each) => ((each as JsonObject)['event_stream'] as readonly JsonObject[]).map((row) => row[key] as Json));
const all = (one: Recorder, key = 'id'): readonly Json[] => batches(one, key).flat() as readonly Json[];
const stream = (size: number, cursor: string, fields = 'id'): string =>
  `subscription { event_stream(batch_size: ${size}, cursor: ${cursor}) { ${fields} } }`;

test('sends each row once, in order, in batches that are never empty', async () => {
  await insert(1, 7);
  const one = await subscribe(stream(3, '{initial_value: {id: 0}}', 'id topic { name }'));
  await one.until((self) => all(self).length === 7);
  expect(batches(one)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  expect(one.data[0]).toEqual({ event_stream: [1, 2, 3].map((id) => ({ id, topic: { name: 'sea' } })) });
  await insert(8, 9);
  await one.until((self) => all(self).length === 9);
  expect(all(one)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test('descends, from an initial value, with a condition', async () => {
  await insert(1, 9);
  const query = `subscription ($from: event_stream_cursor_value_input!) {
    event_stream(batch_size: 2, cursor: [{initial_value: $from, ordering: DESC}, null], where: {id: {_neq: 5}}) { id }
  }`;
  const one = await subscribe(query, { variables: { from: { id: 8 } } });
  await one.until((self) => all(self).length === 6);
  expect(batches(one)).toEqual([
    [7, 6],
    [4, 3],
    [2, 1],
  ]);
});

test('never separates rows with equal values, and compares times by the microsecond', async () => {
  await insert(1, 8);
  const byGrade = await subscribe(stream(1, '{initial_value: {grade: -1}}'));
  const byTime = await subscribe(stream(3, '{initial_value: {at: "2020-01-01"}}'));
  await byGrade.until((self) => all(self).length === 8);
  await byTime.until((self) => all(self).length === 8);
  expect(batches(byGrade).map((ids) => [...(ids as readonly number[])].sort((a, b) => a - b))).toEqual([
    [1, 2],
    [3, 4, 5],
    [6, 7, 8],
  ]);
  expect(all(byTime)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('sends nothing after a null', async () => {
  await insert(1, 3);
  const one = await subscribe(stream(3, '{initial_value: {id: null}}'));
  const other = await subscribe(stream(3, '{initial_value: {id: 2}}'));
  await other.until(({ answers }) => answers.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(one.answers).toEqual([]);
});

test('keeps the cursor of a busy subscriber; subscribers at the same cursor share a statement', async () => {
  const [slow, quick] = [await subscribe(stream(2, '{initial_value: {id: 0}}')), await subscribe(stream(2, '{initial_value: {id: 0}}'))];
  slow.isReady = false;
  await insert(1, 6);
  await quick.until((self) => all(self).length === 6);
  expect(slow.answers).toEqual([]);
  // The poller of an earlier test may still be there, without subscribers.
  const pollers = () => service.subscriptions.reports().filter(({ subscribers }) => subscribers > 0);
  expect(pollers()).toMatchObject([{ kind: 'streaming', cohorts: 2, subscribers: 2 }]);
  slow.isReady = true;
  slow.subscription.drained();
  await slow.until((self) => all(self).length === 6);
  await insert(7, 7);
  for (const one of [slow, quick]) {
    await one.until((self) => all(self).length === 7);
    expect(all(one)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  }
  expect(pollers()).toMatchObject([{ cohorts: 1, subscribers: 2 }]);
});

test('continues from its cursor when its request is replanned', async () => {
  const permit = (filter: JsonObject): Promise<Json> =>
    service.metadata('bulk', [
      { type: 'pg_drop_select_permission', args: { table: 'event', role: 'user' } },
      { type: 'pg_create_select_permission', args: { table: 'event', role: 'user', permission: { columns: '*', filter } } },
    ]);
  await service.metadata('pg_create_select_permission', { table: 'event', role: 'user', permission: { columns: '*', filter: {} } });
  await insert(1, 3);
  const one = await subscribe(stream(2, '{initial_value: {id: 0}}'), { session: session('user') });
  await one.until((self) => all(self).length === 3);
  await permit({ id: { _neq: 5 } });
  await insert(4, 6);
  await one.until((self) => all(self).length === 5);
  expect(all(one)).toEqual([1, 2, 3, 4, 6]);
  await service.metadata('pg_drop_select_permission', { table: 'event', role: 'user' });
  await one.until(({ errors }) => errors.length === 1);
});

test.each([
  [stream(1, '[]'), 'validation-failed', 'one streaming column field is expected'],
  [stream(1, '[null]'), 'validation-failed', 'one streaming column field is expected'],
  [stream(1, '{initial_value: {}}'), 'validation-failed', 'one streaming column field is expected'],
  [stream(1, '[{initial_value: {id: 1}}, {initial_value: {id: 1}}]'), 'not-supported', 'multiple column cursors are not supported yet'],
  [stream(1, '{initial_value: {id: 1, grade: 1}}'), 'not-supported', 'multiple column cursors are not supported yet'],
  [
    stream(-1, '{initial_value: {id: 1}}'),
    'validation-failed',
    "expected a non-negative 32-bit integer for type 'Int', but found an integer",
  ],
  [stream(0, '{initial_value: {id: 1}}'), 'validation-failed', 'expected a batch of at least 1 row, but found 0'],
  [
    `subscription @_multiple_top_level_fields { a: event_stream(batch_size: 1, cursor: {initial_value: {id: 1}}) { id } b: event_stream(batch_size: 1, cursor: {initial_value: {id: 1}}) { id } }`,
    'not-supported',
    'exactly one root field is allowed for streaming subscriptions',
  ],
  [
    `subscription @_multiple_top_level_fields { a: event_stream(batch_size: 1, cursor: {initial_value: {id: 1}}) { id } event { id } }`,
    'not-supported',
    'streaming and livequery subscriptions cannot be executed in the same subscription',
  ],
])('rejects %s', async (query, code, error) => {
  expect(await refusal(service.open(query))).toMatchObject({ code, error });
});

test('exists in subscriptions only', async () => {
  expect(await refusal(service.run('{ event_stream(batch_size: 1, cursor: {initial_value: {id: 1}}) { id } }'))).toMatchObject({
    error: "field 'event_stream' not found in type: 'query_root'",
  });
});
