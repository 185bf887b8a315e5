import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { testKinds } from '../../test/support/kinds.ts';
import { plainSource } from '../../test/support/plain-source.ts';
import { type TestDatabase, testDatabase } from '../../test/support/postgres.ts';
import type { Source } from '../backend/backend.ts';
import { EMPTY_METADATA, type Metadata } from '../metadata/metadata.ts';
import { diffPieces } from '../../test/support/metadata-pieces.ts';
import { WITHOUT_HISTORY } from '../../test/support/old-catalogs.ts';
import { type FollowedTrigger, generateCronEvents } from './cron-events.ts';
import { createStorage, type Storage } from './storage.ts';
import type { Connection } from '../backend/connection.ts';

let database: TestDatabase;
let source: Source;
let storage: Storage;
let stored: Metadata = EMPTY_METADATA;

beforeAll(async () => {
  database = await testDatabase('ready');
  source = plainSource(database.url);
  storage = createStorage(source, testKinds);
  await storage.migrate();
});
afterAll(async () => {
  await source.close();
  await database.drop();
});
afterEach(() => store(EMPTY_METADATA));

const EVERY_MINUTE: FollowedTrigger = { name: 'c', schedule: '* * * * *', retryConf: { toleranceSeconds: 21_600 } };

const withTrigger = (schedule = EVERY_MINUTE.schedule, comment = 'first'): Metadata => ({
  ...EMPTY_METADATA,
  cronTriggers: new Map([
    [
      'c',
      {
        name: 'c',
        webhook: 'http://x',
        schedule,
        retryConf: { numRetries: 0, intervalSeconds: 10, timeoutSeconds: 60, toleranceSeconds: 21_600 },
        headers: [],
        includeInMetadata: true,
        comment,
      },
    ],
  ]),
});

async function store(metadata: Metadata, inTransaction?: () => Promise<void>): Promise<void> {
  const expectedVersion = await storage.currentVersion();
  const changes = diffPieces(stored, metadata, testKinds);
  await storage.save({ expectedVersion, changes, instanceId: 'one', ...(inTransaction === undefined ? {} : { inTransaction }) });
  stored = metadata;
}

async function sql(text: string): Promise<readonly (readonly (string | null)[])[]> {
  return (await source.query(text, [])).rows;
}

/** Returns the numbers of events and of distinct occurrences. */
async function counts(): Promise<readonly (string | null)[] | undefined> {
  return (await sql('select count(*), count(distinct (trigger_name, scheduled_time)) from svc_catalog.svc_cron_events'))[0];
}

/** Moves all occurrences two hours into the past, as delivered. */
async function pass(): Promise<void> {
  await sql(
    `update svc_catalog.svc_cron_events set status = 'delivered', tries = 1, scheduled_time = scheduled_time - interval '200 minutes'`,
  );
  await sql(`update svc_catalog.svc_cron_progress set made_until = made_until - interval '200 minutes'`);
}

/** Connection of an instance that hangs before its `nth` statement until `meanwhile` is done. */
function frozenBefore(nth: number, meanwhile: () => Promise<unknown>): Pick<Connection, 'query'> {
  let statements = 0;
  return {
    async query(...statement) {
      statements += 1;
      if (statements === nth) await meanwhile();
      return source.query(...statement);
    },
  };
}

it('creates an occurrence once although another instance has created and delivered it meanwhile', async () => {
  await store(withTrigger());
  await pass();
  const made = await generateCronEvents(
    frozenBefore(2, async () => {
      expect(await generateCronEvents(source, [EVERY_MINUTE])).toBe(100);
      await sql(`update svc_catalog.svc_cron_events set status = 'delivered'`);
    }),
    [EVERY_MINUTE],
  );
  expect([made, await counts()]).toEqual([0, ['200', '200']]);
});

it('does not create an occurrence again whose event an administrator has removed', async () => {
  await store(withTrigger());
  await pass();
  const before = await sql('select max(scheduled_time) from svc_catalog.svc_cron_events');
  await sql('delete from svc_catalog.svc_cron_events where scheduled_time > (select min(scheduled_time) from svc_catalog.svc_cron_events)');
  expect(await generateCronEvents(source, [EVERY_MINUTE])).toBe(100);
  expect(await sql(`select count(*) from svc_catalog.svc_cron_events where scheduled_time <= '${before[0]?.[0]}'`)).toEqual([['1']]);
  // Another instance hung meanwhile, and all events were removed.
  await pass();
  const late = frozenBefore(2, async () => {
    await generateCronEvents(source, [EVERY_MINUTE]);
    await sql('delete from svc_catalog.svc_cron_events');
  });
  expect(await generateCronEvents(late, [EVERY_MINUTE])).toBe(0);
});

it.each([
  ['was deleted', EMPTY_METADATA],
  ['has another schedule', withTrigger('0 0 1 1 *')],
])('makes no events of a trigger that meanwhile %s', async (_, now) => {
  await store(withTrigger());
  await pass();
  expect(
    await generateCronEvents(
      frozenBefore(2, () => store(now)),
      [EVERY_MINUTE],
    ),
  ).toBe(0);
  expect(
    await generateCronEvents(
      frozenBefore(1, async () => undefined),
      [EVERY_MINUTE],
    ),
  ).toBe(0);
});

it('waits for a pending change of the trigger', async () => {
  await store(withTrigger());
  await pass();
  let made: Promise<number> | undefined;
  await store(EMPTY_METADATA, async () => {
    // It has read the events, and continues while the deletion is not committed.
    await new Promise<void>((resolve) => {
      made = generateCronEvents(
        frozenBefore(2, async () => resolve()),
        [EVERY_MINUTE],
      );
    });
  });
  await made;
  expect(await counts()).toEqual(['0', '0']);
});

it('keeps one event of an occurrence that is delivered while its trigger is replaced', async () => {
  await store(withTrigger());
  await store(withTrigger(EVERY_MINUTE.schedule, 'second'), async () => {
    // The minute begins while the change waits.
    await sql(
      `update svc_catalog.svc_cron_events set status = 'delivered', tries = 1
       where scheduled_time = (select min(scheduled_time) from svc_catalog.svc_cron_events)`,
    );
  });
  expect(await counts()).toEqual(['100', '100']);
});

it('keeps the most advanced event, with all attempts, of an occurrence that older versions created twice', async () => {
  await store(withTrigger());
  await source.runSql(
    `delete from svc_catalog.svc_cron_events;
     drop table svc_catalog.svc_cron_progress;
     drop index svc_catalog.svc_cron_events_occurrence;
     create unique index on svc_catalog.svc_cron_events (trigger_name, scheduled_time) where status in ('scheduled', 'locked');
     create index on svc_catalog.svc_cron_events (trigger_name, scheduled_time);
     ${WITHOUT_HISTORY};
     update svc_catalog.catalog_version set version = 6;
     insert into svc_catalog.svc_cron_events (id, trigger_name, scheduled_time, status, tries) values
       ('a1', 'c', '2024-01-01 00:01Z', 'scheduled', 0), ('a2', 'c', '2024-01-01 00:01Z', 'delivered', 1), ('a3', 'c', '2024-01-01 00:01Z', 'dead', 0),
       ('b1', 'c', '2024-01-01 00:02Z', 'error', 1), ('b2', 'c', '2024-01-01 00:02Z', 'locked', 0),
       ('d1', 'c', '2024-01-01 00:03Z', 'scheduled', 0), ('gone', 'deleted', '2024-01-01 00:03Z', 'scheduled', 0);
     insert into svc_catalog.svc_cron_event_invocation_logs (id, event_id) values ('1', 'a1'), ('2', 'a2'), ('3', 'b1'), ('4', 'd1')`,
    {},
  );
  await storage.migrate();
  expect(await sql('select id from svc_catalog.svc_cron_events order by id')).toEqual([['a2'], ['b2'], ['d1']]);
  expect(await sql('select id, event_id from svc_catalog.svc_cron_event_invocation_logs order by id')).toEqual([
    ['1', 'a2'],
    ['2', 'a2'],
    ['3', 'b2'],
    ['4', 'd1'],
  ]);
  expect(await sql(`select made_until = '2024-01-01 00:03Z' from svc_catalog.svc_cron_progress`)).toEqual([['t']]);
});
