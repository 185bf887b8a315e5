/**
 * Random writers, through the service and beside it, and random subscribers that come and go and are sometimes slow. When all is quiet
 * the last answer of each equals a query's; a stream has each row once, in order; and no answer contains a row that the role was
 * not allowed to see at that moment.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Session } from '../../src/auth/session.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { cases, DEEP, SEED } from '../support/deep.ts';
import { ADMIN, type Recorder, session, type TestSubscriptions, testSubscriptions } from './support.ts';

const USERS = ['ann', 'bob', 'cid'];
let service: TestSubscriptions;
let seed = SEED;

/** A small pseudo-random generator, so that a run can be repeated. */
function random(below: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}

function pick<T>(list: readonly T[]): T {
  return list[random(list.length)] as T;
}

beforeAll(async () => {
  service = await testSubscriptions(`
    create table team (name text primary key);
    create table member (team text not null references team, name text not null, primary key (team, name));
    create table note (id serial primary key, team text references team, size int not null default 0, hidden boolean not null default false);
    create table entry (id serial primary key, team text);
    create view open_note as select id, team, size from note where not hidden;
    insert into team values ('red'), ('blue'), ('green');
    insert into member values ('red', 'ann'), ('blue', 'bob'), ('green', 'cid'), ('blue', 'ann');
  `);
  for (const table of ['team', 'member', 'note', 'entry', 'open_note']) await service.metadata('pg_track_table', { table });
  await service.metadata('pg_create_array_relationship', {
    table: 'team',
    name: 'members',
    using: { foreign_key_constraint_on: { table: 'member', column: 'team' } },
  });
  await service.metadata('pg_create_object_relationship', { table: 'note', name: 'of_team', using: { foreign_key_constraint_on: 'team' } });
  await permit(false);
});
afterAll(() => service.close());

/** @param narrow whether hidden notes are hidden from users */
async function permit(narrow: boolean): Promise<void> {
  if (!narrow) isNarrow = false;
  const drops = isPermitted ? [{ type: 'pg_drop_select_permission', args: { table: 'note', role: 'user' } }] : [];
  isPermitted = true;
  const own = { of_team: { members: { name: { _eq: 'X-Svc-User-Id' } } } };
  await service
    .metadata('pg_create_select_permission', { table: 'team', role: 'user', permission: { columns: '*', filter: {} } })
    .catch(() => undefined);
  await service
    .metadata('pg_create_select_permission', { table: 'member', role: 'user', permission: { columns: '*', filter: {} } })
    .catch(() => undefined);
  await service.metadata('bulk', [
    ...drops,
    {
      type: 'pg_create_select_permission',
      args: {
        table: 'note',
        role: 'user',
        permission: { columns: '*', filter: narrow ? { _and: [own, { hidden: { _eq: false } }] } : own, allow_aggregations: true },
      },
    },
  ]);
  isNarrow = narrow;
}

let isPermitted = false;
let isNarrow = false;
/** Answers that contain hidden rows. */
const leaks: Json[] = [];

interface Watching {
  readonly recorder: Recorder;
  readonly close: () => void;
  readonly query: string;
  readonly session: Session;
  readonly variables: JsonObject;
}

const QUERIES: readonly (readonly [query: string, role: 'admin' | 'user'])[] = [
  ['($size: Int!) { note(where: {size: {_gte: $size}}, order_by: {id: asc}) { id size hidden } }', 'user'],
  ['($size: Int!) { note(where: {size: {_gte: $size}}, order_by: {id: asc}, limit: 5) { id of_team { name } } }', 'admin'],
  ['($size: Int!) { note_aggregate(where: {size: {_lt: $size}}) { aggregate { count sum { size } } } }', 'user'],
  ['($size: Int!) { open_note(where: {size: {_gte: $size}}, order_by: {id: asc}) { id team } }', 'admin'],
  ['{ team(order_by: {name: asc}) { name members(order_by: {name: asc}) { name } } }', 'user'],
];

async function write(): Promise<void> {
  const id = 1 + random(40);
  const size = random(10);
  const team = pick(['red', 'blue', 'green']);
  switch (random(8)) {
    case 0:
      await service.run('mutation ($n: note_insert_input!) { insert_note_one(object: $n) { id } }', { variables: { n: { team, size } } });
      return;
    case 1:
      await service.run(`mutation { update_note(where: {id: {_eq: ${id}}}, _set: {size: ${size}}) { affected_rows } }`);
      return;
    case 2:
      await service.client.query('delete from note where id = $1', [id]);
      return;
    case 3:
      await service.client.query('update note set hidden = not hidden, team = $2 where id = $1', [id, team]);
      return;
    case 4:
      await service.client.query('insert into member values ($1, $2) on conflict do nothing', [team, pick(USERS)]);
      return;
    case 5:
      await service.client.query('delete from member where team = $1 and name = $2', [team, pick(USERS)]);
      return;
    case 6:
      await service.client.query('begin; insert into note (team, size) values ($$red$$, 1); rollback');
      return;
    default:
      // One writer: rows of a stream become visible in the order of their ids.
      await service.client.query('insert into entry (team) select $1 from generate_series(1, $2::int)', [team, 1 + random(4)]);
  }
}

async function watch(): Promise<Watching> {
  const [text, role] = pick(QUERIES);
  const who = role === 'admin' ? ADMIN : session('user', { 'x-svc-user-id': pick(USERS) });
  const variables: JsonObject = text.includes('$size') ? { size: random(10) } : {};
  const recorder = await service.open(`subscription ${text}`, { session: who, variables });
  return { recorder, close: () => recorder.subscription.close(), query: `query ${text}`, session: who, variables };
}

const STREAM = 'subscription { entry_stream(batch_size: 3, cursor: {initial_value: {id: 0}}) { id } }';
const idsOf = (recorder: Recorder): readonly Json[] =>
  recorder.data.flatMap((data) => ((data as JsonObject)['entry_stream'] as readonly JsonObject[]).map((row) => row['id'] as Json));

test(
  'gives subscribers the same final answer as a query',
  async () => {
    const watching: Watching[] = [];
    const streams: (Recorder & { readonly subscription: { drained(): void; close(): void } })[] = [];
    for (let round = 0; round < cases(60, 2); round++) {
      for (let step = 0; step < 40; step++) {
        const what = random(20);
        if (what < 12) await write();
        else if (what < 15) watching.push(await watch());
        else if (what === 15 && watching.length > 3) watching.splice(random(watching.length), 1)[0]?.close();
        else if (what === 16) streams.push(await service.open(STREAM));
        else if (what === 17) {
          for (const each of [...watching.map(({ recorder }) => recorder), ...streams]) if (random(4) === 0) each.isReady = false;
        } else if (what === 18) await new Promise((resolve) => setTimeout(resolve, random(40)));
        else if (random(2) === 0) {
          await permit(!isNarrow);
          if (isNarrow) for (const each of watching) watchForHidden(each);
        }
      }
      await settle(watching, streams);
      if (streams.length > 6) for (const stream of streams.splice(0, 3)) stream.subscription.close();
    }
    for (const each of watching) each.close();
    for (const stream of streams) stream.subscription.close();
    expect(leaks).toEqual([]);
    expect(service.subscriptions.reports()).toEqual([]);
  },
  DEEP ? 600_000 : 180_000,
);

/** Until hidden notes may be seen again, none may arrive. */
function watchForHidden({ recorder, query, session: who }: Watching): void {
  if (who.role !== 'user' || !query.includes('hidden')) return;
  const next = recorder.next.bind(recorder);
  recorder.next = (answer) => {
    next(answer);
    if (isNarrow)
      for (const note of (recorder.last as JsonObject)['note'] as readonly JsonObject[])
        if (note['hidden'] === true) leaks.push(recorder.last);
  };
}

async function settle(
  watching: readonly Watching[],
  streams: readonly (Recorder & { readonly subscription: { drained(): void } })[],
): Promise<void> {
  for (const recorder of [...watching.map(({ recorder }) => recorder), ...streams]) {
    recorder.isReady = true;
    (recorder as unknown as { subscription: { drained(): void } }).subscription.drained();
  }
  for (const { recorder, query, session: who, variables } of watching) {
    const expected = JSON.stringify(await service.run(query, { session: who, variables }));
    await recorder.until((self) => JSON.stringify(self.last) === expected);
    expect(recorder.errors).toEqual([]);
  }
  const { rows } = await service.client.query<{ id: number }>('select id from entry order by id');
  const all = rows.map(({ id }) => id);
  for (const stream of streams) {
    await stream.until((self) => idsOf(self).length >= all.length);
    expect(idsOf(stream)).toEqual(all);
  }
}
