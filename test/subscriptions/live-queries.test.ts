import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Subscription } from '../../src/subscriptions/subscriptions.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { refusal } from '../metadata-api/support.ts';
import { type Recorder, session, type TestSubscriptions, testSubscriptions } from './support.ts';

const SQL = `
  create table item (id int primary key, owner text not null, size int not null default 0);
  create view large_item as select * from item where size > 10;
  create function items_of(who text) returns setof item language sql stable as $$ select * from item where owner = who $$;
  create table moment (id int primary key, at timestamptz not null);
  create view lazy_item as select * from item where case when id = 1 then pg_sleep(0.11) is not null else true end;
  create table part (id int, place int) partition by list (place);
  create table part_1 partition of part for values in (1);
  create table part_2 partition of part for values in (2);
`;
const open: { subscription: Subscription }[] = [];
let service: TestSubscriptions;

beforeAll(async () => {
  service = await testSubscriptions(SQL);
  for (const table of ['item', 'large_item', 'moment', 'part', 'lazy_item']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_track_function', { function: 'items_of' });
});
afterAll(() => service.close());
beforeEach(() => service.client.query(`truncate item, moment; insert into item values (1, 'ann', 5), (2, 'bob', 20)`));
afterEach(() => {
  for (const { subscription } of open.splice(0)) subscription.close();
});

async function subscribe(...of: Parameters<TestSubscriptions['open']>): ReturnType<TestSubscriptions['open']> {
  const opened = await service.open(...of);
  open.push(opened);
  return opened;
}

const ids = (data: Json): Json => ((data as JsonObject)['item'] as readonly JsonObject[]).map((item) => item['id'] as Json);
const ITEMS = 'subscription { item(order_by: {id: asc}) { id } }';
const pollers = () => service.subscriptions.reports();

describe('a live query', () => {
  test('sends the first answer at once, and each different one after a change', async () => {
    const one = await subscribe(ITEMS);
    await one.until(({ answers }) => answers.length === 1);
    expect(ids(one.last)).toEqual([1, 2]);
    await service.client.query(`insert into item values (3, 'cid')`);
    await one.until(({ answers }) => answers.length === 2);
    expect(ids(one.last)).toEqual([1, 2, 3]);
    await service.run('mutation { delete_item_by_pk(id: 1) { id } }');
    await one.until(({ answers }) => answers.length === 3);
    expect(ids(one.last)).toEqual([2, 3]);
  });

  test('sends nothing after an unrelated change', async () => {
    const one = await subscribe(ITEMS);
    await one.until(({ answers }) => answers.length === 1);
    while (pollers()[0]?.waitsFor !== 'change') await new Promise((resolve) => setTimeout(resolve, 5));
    expect(pollers()).toMatchObject([{ reason: 'answers depend on stored rows alone', cohorts: 1, subscribers: 1 }]);
    const { runs = 0 } = pollers()[0] ?? {};
    await service.client.query('update item set size = size + 1');
    while ((pollers()[0]?.runs ?? 0) === runs) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(one.answers).toHaveLength(1);
  });

  test('on a partitioned table waits for changes in any partition', async () => {
    const one = await subscribe('subscription { part(order_by: {id: asc}) { id } }');
    await one.until(({ answers }) => answers.length === 1);
    while (pollers()[0]?.waitsFor !== 'change') await new Promise((resolve) => setTimeout(resolve, 5));
    await service.client.query('insert into part_1 values (1, 1)');
    await one.until(({ answers }) => answers.length === 2);
    await service.client.query('insert into part values (2, 2)');
    await one.until(({ answers }) => answers.length === 3);
    expect(one.last).toEqual({ part: [{ id: 1 }, { id: 2 }] });
  });

  test.each([
    ['a view', 'subscription { large_item { id } }', 'public.large_item'],
    ['a function that is not immutable', 'subscription { items_of(args: {who: "ann"}) { id } }', 'public.items_of'],
    ['a moment that moves', 'subscription { moment(where: {at: {_lt: "tomorrow"}}) { id } }', '"now"'],
  ])('that reads %s runs every interval', async (_what, query, reason) => {
    const one = await subscribe(query);
    await one.until(({ answers }) => answers.length === 1);
    expect(pollers()).toMatchObject([{ waitsFor: 'interval', reason: expect.stringContaining(reason) }]);
    const { runs = 0 } = pollers()[0] ?? {};
    while ((pollers()[0]?.runs ?? 0) < runs + 3) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(one.answers).toHaveLength(1);
  });

  test.each([
    ['by key', 'subscription { item_by_pk(id: 1) { size } }', { item_by_pk: { size: 5 } }, { item_by_pk: { size: 6 } }],
    [
      'aggregates',
      'subscription { item_aggregate { aggregate { sum { size } } } }',
      { item_aggregate: { aggregate: { sum: { size: 25 } } } },
      { item_aggregate: { aggregate: { sum: { size: 26 } } } },
    ],
    ['functions', 'subscription { items_of(args: {who: "ann"}) { size } }', { items_of: [{ size: 5 }] }, { items_of: [{ size: 6 }] }],
  ])('%s', async (_what, query, before, after) => {
    const one = await subscribe(query);
    await one.until(({ answers }) => answers.length === 1);
    expect(one.last).toEqual(before);
    await service.client.query('update item set size = size + 1 where id = 1');
    await one.until(({ answers }) => answers.length === 2);
    expect(one.last).toEqual(after);
  });

  test('detects which query of a batch is slow', async () => {
    const query = 'subscription ($id: Int!) { lazy_item(where: {id: {_eq: $id}}) { size } }';
    const [first, slow, third] = await Promise.all([3, 1, 2].map((id) => subscribe(query, { variables: { id } })));
    while (pollers()[0]?.slow !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
    await service.client.query('update item set size = size + 1');
    for (const one of [slow, third]) await one?.until(({ answers }) => answers.length === 2);
    expect(first?.answers).toHaveLength(1);
    slow?.subscription.close();
    while (pollers()[0]?.slow !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(pollers()).toMatchObject([{ cohorts: 2, failing: 0 }]);
  });

  test('shares the statement by its text, and the answer by its values', async () => {
    await service.metadata('pg_create_select_permission', {
      table: 'item',
      role: 'owner',
      permission: { columns: '*', filter: { owner: { _eq: 'X-Svc-User-Id' } } },
    });
    const query = 'subscription ($size: Int!) { item(where: {size: {_gt: $size}}) { id } }';
    const of = (user: string, size: number) =>
      subscribe(query, { session: session('owner', { 'x-svc-user-id': user, 'x-svc-other': `${size}` }), variables: { size } });
    const [ann, bob, again, none] = await Promise.all([of('ann', 0), of('bob', 0), of('ann', 0), of('ann', 7)]);
    for (const one of [ann, bob, again, none]) await one?.until(({ answers }) => answers.length === 1);
    expect([ann, bob, again, none].map((one) => ids((one as Recorder).last))).toEqual([[1], [2], [1], []]);
    expect(pollers()).toMatchObject([{ role: 'owner', cohorts: 3, subscribers: 4 }]);
    await service.client.query(`update item set size = 30 where owner = 'ann'`);
    for (const one of [none]) await one?.until(({ answers }) => answers.length === 2);
    expect(ids((none as Recorder).last)).toEqual([1]);
    const late = await of('ann', 7);
    await late.until(({ answers }) => answers.length === 1);
    expect(late.answers[0]?.body).toEqual(none?.answers[1]?.body);
  });

  test('reports an invalid value to its own subscriber only', async () => {
    const query = 'subscription ($at: timestamptz!) { moment(where: {at: {_gt: $at}}) { id } }';
    const at = (value: string) => subscribe(query, { variables: { at: value } });
    const [good, wrong, other] = await Promise.all([at('2020-01-01'), at('2020-13-01'), at('2021-01-01')]);
    await wrong?.until(({ errors }) => errors.length === 1);
    expect(wrong?.errors).toMatchObject([{ final: true, error: { code: 'data-exception' } }]);
    for (const one of [good, other]) await one?.until(({ answers }) => answers.length === 1);
    expect(pollers()).toMatchObject([{ cohorts: 2, failing: 0 }]);
  });

  test('recovers from a failure, and reports it once', async () => {
    await service.client.query('create or replace view large_item as select id, owner, 10 / size as size from item');
    const one = await subscribe('subscription { large_item(order_by: {id: asc}) { size } }');
    await one.until(({ answers }) => answers.length === 1);
    await service.client.query('update item set size = 0 where id = 1');
    await one.until(({ errors }) => errors.length === 1);
    expect(one.errors).toMatchObject([{ final: false, error: { code: 'data-exception', message: 'division by zero' } }]);
    await service.client.query('update item set size = 5 where id = 1');
    await one.until(({ answers }) => answers.length === 2);
    expect(one.errors).toHaveLength(1);
    expect(one.last).toEqual(one.data[0]);
  });

  test('sends a slow subscriber the newest answer when it is ready', async () => {
    const [slow, quick] = [await subscribe(ITEMS), await subscribe(ITEMS)];
    await slow.until(({ answers }) => answers.length === 1);
    slow.isReady = false;
    for (const id of [3, 4, 5]) {
      await service.client.query('insert into item values ($1, $2)', [id, 'x']);
      await quick.until((self) => (ids(self.last) as readonly Json[]).includes(id));
    }
    slow.isReady = true;
    slow.subscription.drained();
    await slow.until(({ answers }) => answers.length === 2);
    expect(ids(slow.last)).toEqual([1, 2, 3, 4, 5]);
  });

  test('sends nothing after its end, and releases its resources', async () => {
    const one = await subscribe(ITEMS);
    one.subscription.close();
    one.subscription.close();
    one.subscription.drained();
    await service.client.query(`insert into item values (3, 'cid')`);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(one.answers).toEqual([]);
    expect(pollers()).toEqual([]);
    const watching = await service.client.query(
      `select 1 from pg_stat_activity where datname = current_database() and query like '%pg_current_snapshot%' and pid <> pg_backend_pid()
         and state <> 'idle'`,
    );
    expect(watching.rows).toEqual([]);
  });

  test('recovers when the database has closed all connections', async () => {
    const one = await subscribe(ITEMS);
    await one.until(({ answers }) => answers.length === 1);
    await service.client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await service.client.query(`insert into item values (3, 'cid')`);
    await one.until(({ answers }) => answers.length === 2);
    expect(ids(one.last)).toEqual([1, 2, 3]);
    expect(one.errors).toEqual([]);
  });
});

describe('a metadata change', () => {
  const USER = session('user', { 'x-svc-user-id': 'ann' });
  afterEach(() => service.metadata('pg_drop_select_permission', { table: 'item', role: 'user' }).catch(() => undefined));
  const permit = (permission: JsonObject) => service.metadata('pg_create_select_permission', { table: 'item', role: 'user', permission });

  test('that restricts a permission stops hidden rows at once', async () => {
    await permit({ columns: '*', filter: {} });
    const one = await subscribe(ITEMS, { session: USER });
    await one.until(({ answers }) => answers.length === 1);
    expect(ids(one.last)).toEqual([1, 2]);
    await service.metadata('bulk', [
      { type: 'pg_drop_select_permission', args: { table: 'item', role: 'user' } },
      {
        type: 'pg_create_select_permission',
        args: { table: 'item', role: 'user', permission: { columns: '*', filter: { owner: { _eq: 'X-Svc-User-Id' } } } },
      },
    ]);
    const { length } = one.answers;
    await service.client.query(`insert into item values (3, 'bob'), (4, 'ann')`);
    await one.until((self) => (ids(self.last) as readonly Json[]).includes(4));
    for (const data of one.data.slice(length)) expect([[1], [1, 4]]).toContainEqual(ids(data));
    expect(ids(one.last)).toEqual([1, 4]);
  });

  test('that removes the field ends the subscription', async () => {
    await permit({ columns: '*', filter: {} });
    const one = await subscribe(ITEMS, { session: USER });
    await one.until(({ answers }) => answers.length === 1);
    await service.metadata('pg_drop_select_permission', { table: 'item', role: 'user' });
    await one.until(({ errors }) => errors.length === 1);
    expect(one.errors).toMatchObject([{ final: true, error: { code: 'validation-failed' } }]);
    expect(pollers()).toEqual([]);
  });

  test('that is unrelated changes nothing, and an equal answer is not sent again', async () => {
    await permit({ columns: '*', filter: {} });
    const one = await subscribe(ITEMS, { session: USER });
    await one.until(({ answers }) => answers.length === 1);
    const [before] = pollers();
    await service.metadata('pg_create_select_permission', { table: 'moment', role: 'other', permission: { columns: '*', filter: {} } });
    expect(pollers()[0]?.id).toBe(before?.id);
    await service.metadata('pg_set_table_customization', { table: 'item', configuration: { comment: 'things' } });
    expect(pollers()[0]?.id).not.toBe(before?.id);
    while ((pollers()[0]?.runs ?? 0) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(one.answers).toHaveLength(1);
    await service.client.query('delete from item where id = 2');
    await one.until(({ answers }) => answers.length === 2);
    expect(ids(one.last)).toEqual([1]);
  });
});

test.each([
  ['subscription { item { id } moment { id } }', 'validation-failed', 'subscriptions must select one top level field'],
  [
    'subscription { ...a } fragment a on subscription_root { item { id } moment { id } }',
    'validation-failed',
    'subscriptions must select one top level field',
  ],
  ['subscription { __typename }', 'not-supported', 'Introspection at root field level is not supported over subscriptions'],
  ['{ item { id } }', 'unexpected-payload', 'only subscriptions can be subscribed to'],
  ['subscription { nothing }', 'validation-failed', `field 'nothing' not found in type: 'subscription_root'`],
])('rejects the subscription %s', async (query, code, error) => {
  expect(await refusal(service.open(query))).toMatchObject({ code, error });
  expect(pollers()).toEqual([]);
});

test('limits the number of different subscriptions of a role, with those that differ in values only counted once', async () => {
  await service.metadata('pg_create_select_permission', { table: 'item', role: 'many', permission: { columns: '*', filter: {} } });
  const who = { session: session('many') };
  for (const n of [1, 2, 3, 4, 5]) await subscribe(`subscription { item { a${n}: id } }`, who);
  const one = 'subscription ($id: Int!) { item(where: {id: {_eq: $id}}) { id } }';
  expect(await refusal(service.open(one, { ...who, variables: { id: 1 } }))).toMatchObject({
    code: 'busy',
    error:
      'the limit of 5 different concurrent subscriptions of the role "many" is reached; those that differ only in variables count as one',
  });
  // Another role's, and one that runs already.
  await subscribe(one, { variables: { id: 1 } });
  await subscribe('subscription { item { a1: id } }', who);
  // A replanned subscription keeps its place.
  await service.metadata('pg_set_table_customization', { table: 'item', configuration: { comment: 'more things' } });
  expect(pollers().filter(({ role }) => role === 'many')).toHaveLength(5);
  open.shift()?.subscription.close();
  open.pop()?.subscription.close();
  for (const id of [1, 2, 3]) await subscribe(one, { ...who, variables: { id } });
  expect(pollers().filter(({ role }) => role === 'many')).toMatchObject([{}, {}, {}, {}, { cohorts: 3 }]);
  await service.metadata('pg_drop_select_permission', { table: 'item', role: 'many' });
});

test('combines several root fields into one answer if the document requires it', async () => {
  const one = await subscribe('subscription @_multiple_top_level_fields { a: item { id } b: item_aggregate { aggregate { count } } }');
  await one.until(({ answers }) => answers.length === 1);
  expect(one.last).toEqual({ a: [{ id: 1 }, { id: 2 }], b: { aggregate: { count: 2 } } });
});

test('cancels statements without remaining subscribers in the database', async () => {
  await service.client.query('create or replace view large_item as select id, owner, size from item where pg_sleep(30) is not null');
  const one = await subscribe('subscription { large_item { size } }');
  const running = async (): Promise<number> => {
    const found = await service.client.query(
      `select from pg_stat_activity where datname = current_database() and state = 'active' and query like '%large_item%' and pid <> pg_backend_pid()`,
    );
    return found.rows.length;
  };
  while ((await running()) === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  one.subscription.close();
  while ((await running()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
});
