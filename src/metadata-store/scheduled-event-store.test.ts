import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import { testKinds } from '../../test/support/kinds.ts';
import { countsAttemptsOnce } from '../../test/support/lost-answers.ts';
import { plainSource } from '../../test/support/plain-source.ts';
import { type TestDatabase, testDatabase } from '../../test/support/postgres.ts';
import type { TriggerQueueRequest } from '../backend/event-store.ts';
import type { Source } from '../backend/backend.ts';
import { createActionLog } from './action-log.ts';
import { createScheduledEventStore, ONE_OFF_QUEUE } from './scheduled-event-store.ts';
import { createScheduledEvents } from './scheduled-events.ts';
import { createStorage } from './storage.ts';

let database: TestDatabase;
let source: Source;

beforeAll(async () => {
  database = await testDatabase('ready');
  source = plainSource(database.url);
  await createStorage(source, testKinds, { keptVersions: 64, keptRemovals: 100 }).migrate();
});
afterAll(async () => {
  await source.close();
  await database.drop();
});

it('fetches up to the limit of each queue, and nothing from other queues', async () => {
  await source.runSql(
    `insert into svc_catalog.svc_scheduled_events (id, webhook_conf, scheduled_time, status)
     select 'one' || i, '"http://a"', now(), 'scheduled' from generate_series(1, 9) i;
     insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time)
     select 'cron' || i, 'c', now() - i * interval '1 minute' from generate_series(1, 9) i`,
    {},
  );
  const store = createScheduledEventStore(source);
  const take = async (limit: number, ...queues: readonly TriggerQueueRequest[]): Promise<readonly string[]> =>
    (await store.fetch({ lease: { holder: 'a', seconds: 60 }, limit, queues })).map(({ queue }) => queue).sort();
  expect(await take(9, { name: 'c', limit: 2 })).toEqual(['c', 'c']);
  expect(await take(9, { name: ONE_OFF_QUEUE, limit: 3 })).toEqual(['', '', '']);
  expect(await take(2, { name: ONE_OFF_QUEUE, limit: 3 }, { name: 'c', limit: 1 })).toEqual(['', 'c']);
});

it('stops fetching one-off events and action calls when the byte limit is reached', async () => {
  await source.runSql(
    `insert into svc_catalog.svc_scheduled_events (id, webhook_conf, scheduled_time, payload)
     select 'large' || i, '"http://a"', '2020-01-01'::timestamptz + i * interval '1 s', to_json(repeat('x', 1000)) from generate_series(1, 5) i;
     insert into svc_catalog.svc_action_log (action_name, input_payload, request_headers, session_variables)
     select 'make', json_build_object('x', repeat('x', 1000)), '{}', '{}' from generate_series(1, 5) i`,
    {},
  );
  const lease = { holder: 'a', seconds: 60 };
  const most = { lease, limit: 100, bytes: 2500 };
  const oneOff = await createScheduledEventStore(source).fetch({ ...most, queues: [{ name: ONE_OFF_QUEUE, limit: 100 }] });
  expect(oneOff.map(({ id }) => id).sort()).toEqual(['large1', 'large2', 'large3']);
  const { store } = createActionLog(source);
  const fetched = [
    await store.fetch({ ...most, queues: [{ name: 'make', limit: 9 }] }),
    await store.fetch({ ...most, queues: [{ name: 'make', limit: 9 }] }),
  ];
  expect(fetched.map(({ length }) => length)).toEqual([3, 2]);
});

it.runIf(DEEP)('counts an attempt once where the answers to its recording are lost', async () => {
  await source.runSql(`insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time) values ('lost', 'lost', now())`, {});
  await countsAttemptsOnce(createScheduledEventStore(source), 'lost', async () => {
    const { rows } = await source.query(
      `select tries, (select count(*) from svc_catalog.svc_cron_event_invocation_logs where event_id = 'lost') from svc_catalog.svc_cron_events where id = 'lost'`,
      [],
    );
    return [Number(rows[0]?.[0]), Number(rows[0]?.[1])];
  });
});

it('lists attempts up to the byte limit, and reports the truncation', async () => {
  await source.runSql(
    `insert into svc_catalog.svc_scheduled_events (id, webhook_conf, scheduled_time) values ('told', '"http://a"', now());
     insert into svc_catalog.svc_scheduled_event_invocation_logs (id, event_id, response)
     select 'attempt' || i, 'told', to_json(repeat('x', 1000)) from generate_series(1, 5) i`,
    {},
  );
  const told = async (limit?: number): Promise<readonly unknown[]> => {
    const slice = { offset: 0, count: false, ...(limit === undefined ? {} : { limit }) };
    const { rows, isTruncated } = await createScheduledEvents(source, 3000).invocations({ type: 'one_off' }, 'told', slice);
    return [rows.length, isTruncated];
  };
  expect([await told(), await told(3), await told(2)]).toEqual([
    [3, true],
    [3, false],
    [2, false],
  ]);
});
