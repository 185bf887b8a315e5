/** Two different databases act as the primary and its replica, so that an answer shows its origin. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEEP } from '../support/deep.ts';
import { testDatabase, type TestDatabase } from '../support/postgres.ts';
import { type Relay, relayTo } from '../support/relay.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

const REQUEST_TIMEOUT_MS = 3000;

let primary: TestDatabase;
let copy: TestDatabase;
let service: TestService;
let relay: Relay;

const place = { schema: 'public', name: 'place' };
const names = () => service.graphql('{ place(order_by: {id: asc}) { name } }');
const from = (...found: readonly string[]) => ({ data: { place: found.map((name) => ({ name })) } });

beforeAll(async () => {
  [primary, copy] = await Promise.all([testDatabase(), testDatabase()]);
  relay = await relayTo(copy.url);
  service = await startTestService({ REQUEST_TIMEOUT: String(REQUEST_TIMEOUT_MS / 1000) });
  await service.metadata('pg_add_source', {
    name: 'main',
    configuration: { connection_info: { database_url: primary.url }, read_replicas: [{ database_url: relay.url }] },
  });
  const create = 'create table place (id int primary key, name text);';
  await service.sql(`${create} insert into place values (1, 'primary')`, { source: 'main' });
  await service.metadata('pg_track_table', { source: 'main', table: place });
  const client = new pg.Client(copy.url);
  await client.connect();
  await client.query(`${create} insert into place values (1, 'copy')`);
  await client.end();
});

afterAll(async () => {
  await service.stop();
  await relay.stop().catch(() => undefined);
  await Promise.all([primary.drop(), copy.drop()]);
});

test('sends queries to replicas and everything else to the primary', async () => {
  expect(await names()).toEqual(from('copy'));
  expect(await service.graphql('mutation { insert_place_one(object: {id: 2, name: "new"}) { name } }')).toEqual({
    data: { insert_place_one: { name: 'new' } },
  });
  expect(await names()).toEqual(from('copy'));
  expect(await service.sql('select name from place order by id', { source: 'main' })).toMatchObject({
    result: [['name'], ['primary'], ['new']],
  });
});

test('falls back to the primary for tables that replicas do not have yet', async () => {
  await service.sql("create table late (name text); insert into late values ('primary')", { source: 'main' });
  await service.metadata('pg_track_table', { source: 'main', table: { schema: 'public', name: 'late' } });
  expect(await service.graphql('{ late { name } }')).toEqual({ data: { late: [{ name: 'primary' }] } });
  expect(await names()).toEqual(from('copy'));
});

test('does without replicas while they are unavailable', async () => {
  await relay.stop();
  for (let i = 0; i < 3; i++) expect(await names()).toEqual(from('primary', 'new'));
  await relay.start();
  // Replicas are retried after five seconds, for which a short run has no time.
  if (!DEEP) return;
  await expect.poll(names, WAIT).toEqual(from('copy'));
});

test.runIf(DEEP)(
  'does without silent replicas, and no request waits',
  async () => {
    relay.silence();
    // Statements in progress when a replica falls silent end with their timeout.
    expect(await names()).toMatchObject({ errors: [{ extensions: { code: 'timeout' } }] });
    const started = performance.now();
    for (let i = 0; i < 20; i++) expect(await names()).toEqual(from('primary', 'new'));
    // Also after a retry.
    await sleep(6_000);
    for (let i = 0; i < 20; i++) expect(await names()).toEqual(from('primary', 'new'));
    expect(performance.now() - started).toBeLessThan(6_000 + 10 * REQUEST_TIMEOUT_MS);
    relay.speak();
    await expect.poll(names, WAIT).toEqual(from('copy'));
  },
  180_000,
);

test.runIf(DEEP)(
  'does not wait for replicas that are silent from the start',
  async () => {
    relay.silence();
    await service.metadata('pg_add_source', {
      name: 'silent',
      configuration: { connection_info: { database_url: primary.url }, read_replicas: [{ database_url: relay.url }] },
      customization: { root_fields: { prefix: 'silent_' }, type_names: { prefix: 'silent_' } },
    });
    await service.metadata('pg_track_table', { source: 'silent', table: place });
    const query = () => service.graphql('{ silent_place(order_by: {id: asc}) { name } }');
    const silent = (...found: readonly string[]) => ({ data: { silent_place: found.map((name) => ({ name })) } });
    for (let i = 0; i < 3; i++) expect(await query()).toEqual(silent('primary', 'new'));
    relay.speak();
    await expect.poll(query, WAIT).toEqual(silent('copy'));
    await service.metadata('pg_drop_source', { name: 'silent', cascade: true });
    await expect.poll(names, WAIT).toEqual(from('copy'));
  },
  180_000,
);

test('reports errors of a request without a retry on the primary', async () => {
  const answer = await service.graphql('{ place(where: {name: {_regex: "("}}) { name } }');
  expect(answer['errors']).toMatchObject([{ extensions: { code: 'data-exception' } }]);
});

test('exports replicas in the metadata', async () => {
  expect(await service.metadata('export_metadata', {})).toMatchObject({
    sources: [
      {
        name: 'default',
      },
      {
        name: 'main',
        configuration: { read_replicas: [{ database_url: relay.url, isolation_level: 'read-committed', use_prepared_statements: true }] },
      },
    ],
  });
});
