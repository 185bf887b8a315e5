/** The queues in the metadata database: the rows that one fetch reads, whenever its statements were planned. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Source } from '../../src/backend/backend.ts';
import type { DeliveryOutcome, EventStore, QueuedEvent } from '../../src/backend/event-store.ts';
import { postgresql } from '../../src/databases/postgresql/index.ts';
import { type CallOutcome, createActionLog } from '../../src/metadata-store/action-log.ts';
import { createScheduledEventStore, ONE_OFF_QUEUE } from '../../src/metadata-store/scheduled-event-store.ts';
import { ROOT } from '../../src/util/path.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';

const LEASE = { holder: 'a', seconds: 60 };
const TAKEN = 20;

let database: TestDatabase;
let source: Source;

beforeAll(async () => {
  database = await testDatabase('ready');
  // One connection: plans are cached per connection, and it reports its reads when asked.
  source = await postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: database.url } }, ROOT), {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: true,
    maxConnections: 1,
    stringifyNumericTypes: false,
  });
});
afterAll(async () => {
  await source.close();
  await database.drop();
});

/** Table rows and index entries read so far. */
async function read(table: string): Promise<number> {
  await source.query('select pg_stat_force_next_flush()', []);
  const { rows } = await source.query(
    `select (select seq_tup_read from pg_stat_user_tables where relname = $1)
       + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = $1)`,
    [table],
  );
  return Number(rows[0]?.[0]);
}

/** @param write creates that many events. @returns reads for fetching and recording some of very many events, after few existed often */
async function readOf<E extends QueuedEvent, O extends { readonly id: string }>(
  table: string,
  store: EventStore<E, O>,
  queue: string,
  write: (count: number) => Promise<unknown>,
  outcome: (id: string) => O,
): Promise<number> {
  const next = async (): Promise<void> => {
    const taken = await store.fetch({ lease: LEASE, limit: TAKEN, queues: [{ name: queue, limit: TAKEN }] });
    const ids = taken.map(({ id }) => id);
    expect(await store.renew(LEASE, ids)).toHaveLength(ids.length);
    expect(
      await store.record(
        LEASE,
        taken.map(({ id, tries }) => ({ ...outcome(id), tries })),
      ),
    ).toHaveLength(ids.length);
  };
  for (let i = 0; i < 12; i++) {
    await write(1);
    await next();
  }
  await write(3000);
  const before = await read(table);
  await next();
  return (await read(table)) - before;
}

it('never reads all one-off events', async () => {
  const write = (count: number): Promise<unknown> =>
    source.query(
      `insert into svc_catalog.svc_scheduled_events (id, webhook_conf, scheduled_time, retry_conf)
       select gen_random_uuid()::text, '"http://x"', now() - interval '1 s', '{}' from generate_series(1, $1::int)`,
      [String(count)],
    );
  const entries = await readOf(
    'svc_scheduled_events',
    createScheduledEventStore(source),
    ONE_OFF_QUEUE,
    write,
    (id): DeliveryOutcome => ({
      id,
      result: { kind: 'delivered' },
      invocation: { status: 200, request: '{}', response: '{}' },
    }),
  );
  expect(entries).toBeLessThan(20 * TAKEN);
});

it('never reads all calls of asynchronous actions', async () => {
  const log = createActionLog(source);
  const write = (count: number): Promise<unknown> =>
    source.query(
      `insert into svc_catalog.svc_action_log (action_name, input_payload, request_headers, session_variables)
       select 'act', '{}', '{}', '{}' from generate_series(1, $1::int)`,
      [String(count)],
    );
  const entries = await readOf(
    'svc_action_log',
    log.store,
    'act',
    write,
    (id): CallOutcome => ({
      id,
      result: { kind: 'completed', response: '1' },
    }),
  );
  expect(entries).toBeLessThan(20 * TAKEN);
});
