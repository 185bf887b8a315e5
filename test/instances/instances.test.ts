/** Several services on one metadata database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/util/json.ts';
import { DEEP } from '../support/deep.ts';
import { type Relay, relayTo } from '../support/relay.ts';
import { runSql } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { WAIT } from '../support/wait.ts';

/** Disables polling of the version, so that a change can only arrive by notification. */
const NEVER_POLL = { SCHEMA_SYNC_POLL_INTERVAL: '600000' };

let one: TestService;
let two: TestService;

beforeAll(async () => {
  one = await startTestService(NEVER_POLL);
  await runSql(
    one.databaseUrl,
    `create table author (id int primary key, name text); insert into author values (1, 'Ann');
     create table article (id int primary key, author_id int references author)`,
  );
  two = await startTestService({ ...NEVER_POLL, DATABASE_URL: one.databaseUrl });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<void> {
  const started = performance.now();
  for (;;) {
    const value = await read();
    if (fits(value)) return;
    if (performance.now() - started > WAIT.timeout) throw new Error(`still ${JSON.stringify(value)}`);
    await sleep(5);
  }
}
const answers = (answer: JsonObject): boolean => answer['data'] !== undefined;
const version = async (service: TestService): Promise<number> =>
  Number(((await service.metadata('export_metadata', {}, { version: 2 })) as JsonObject)['resource_version']);

describe('a change made through one instance', () => {
  it('is received by the other, in both directions', async () => {
    await one.metadata('pg_track_table', { table: 'author' });
    await until(() => two.graphql('{ author { name } }'), answers);
    await two.metadata('pg_track_table', { table: 'article' });
    await until(() => one.graphql('{ article { id } }'), answers);
    await one.metadata('pg_create_select_permission', { table: 'author', role: 'user', permission: { columns: ['id'], filter: {} } });
    await until(() => two.graphql('{ author { id } }', { role: 'user' }), answers);
    await two.metadata('pg_untrack_table', { table: 'author', cascade: true });
    await until(
      () => one.graphql('{ author { name } }'),
      (answer) => !answers(answer),
    );
    expect(await version(one)).toBe(await version(two));
    await one.metadata('pg_track_table', { table: 'author' });
  });

  it('clears the response caches of all instances', async () => {
    await one.metadata('pg_track_table', { table: 'author' }).catch(() => undefined);
    await until(() => two.graphql('{ author { name } }'), answers);
    const query = 'query @cached(ttl: 600) { author { id name } }';
    const asked = (service: TestService) => service.send('/v1/graphql', { method: 'POST', body: JSON.stringify({ query }) });
    const [here, there] = [await asked(one), await asked(two)];
    expect(there.headers.get('x-svc-query-cache-key')).toBe(here.headers.get('x-svc-query-cache-key'));
    await runSql(one.databaseUrl, `update author set name = 'Anne'`);
    expect((await asked(two)).text).toContain('"Ann"');
    const key = here.headers.get('x-svc-query-cache-key');
    expect((await one.send(`/v1/cache/clear?key=${key}`, { method: 'POST' })).json).toEqual({ message: 'success', clearedItemCount: 1 });
    await until(
      async () => (await asked(two)).text,
      (text) => text.includes('"Anne"'),
    );
    await runSql(one.databaseUrl, `update author set name = 'Ann'`);
  });

  it.runIf(DEEP)('is the base of a later change through the other without waiting', async () => {
    for (let i = 0; i < 10; i++) {
      await one.metadata('pg_untrack_table', { table: 'article' });
      await two.metadata('pg_track_table', { table: 'article' });
    }
    expect(await two.graphql('{ article { id } }')).toEqual({ data: { article: [] } });
  });

  it.runIf(DEEP)('includes changes of the database', async () => {
    await two.sql('alter table author add column age int');
    await until(() => one.graphql('{ author { age } }'), answers);
    await one.sql('alter table author drop column age', { cascade: true });
    await until(
      () => two.graphql('{ author { age } }'),
      (answer) => !answers(answer),
    );
  });
});

describe('concurrent changes through two instances', () => {
  const roles = (document: unknown): string[] => {
    const found: string[] = [];
    JSON.stringify(document, (key, value: unknown) => {
      if (key === 'role') found.push(String(value));
      return value;
    });
    return found.sort();
  };
  const post = (service: TestService, body: JsonObject) => service.send('/v1/metadata', { method: 'POST', body: JSON.stringify(body) });

  it.runIf(DEEP)('are all applied, or rejected as conflicts', async () => {
    const made: string[] = [];
    const change = async (service: TestService, worker: number): Promise<void> => {
      for (let i = 0; i < 10; i++) {
        const role = `r_${worker}_${i}`;
        const args = { table: 'author', role, permission: { columns: ['id'], filter: {} } };
        const { status, text } = await post(service, { type: 'pg_create_select_permission', args });
        expect([200, 409], text).toContain(status);
        if (status === 200) made.push(role);
      }
    };
    await Promise.all([0, 1, 2, 3].map((worker) => change(worker % 2 === 0 ? one : two, worker)));
    expect(made.length).toBeGreaterThan(30);
    const expected = [...made].sort().join();
    for (const service of [one, two]) {
      await until(
        async () => roles(await service.metadata('export_metadata', {})).join(),
        (found) => found === expected,
      );
    }
  });

  it.runIf(DEEP)('lose nothing if each has the resource version that it was based on', async () => {
    const entry = (document: JsonObject, table: string) => {
      const sources = document['sources'] as unknown as { tables: { table: { name: string }; configuration?: { comment?: string } }[] }[];
      return sources[0]?.tables.find((each) => each.table.name === table);
    };
    let counted = 0;
    let refused = 0;
    const count = async (service: TestService): Promise<void> => {
      for (let i = 0; i < 15; i++) {
        const { json } = await post(service, { type: 'export_metadata', version: 2, args: {} });
        const { metadata, resource_version } = json as { metadata: JsonObject; resource_version: number };
        const table = entry(metadata, 'article');
        if (table === undefined) throw new Error('the table is tracked');
        table.configuration = { comment: String(Number(table.configuration?.comment ?? 0) + 1) };
        const body = { type: 'replace_metadata', version: 2, args: { metadata, resource_version: Number(resource_version) } };
        const { status, text } = await post(service, body as unknown as JsonObject);
        expect([200, 409], text).toContain(status);
        if (status === 200) counted += 1;
        else refused += 1;
      }
    };
    await Promise.all([count(one), count(two), count(one)]);
    expect(counted + refused).toBe(45);
    expect(refused).toBeGreaterThan(0);
    for (const service of [one, two]) {
      const comment = async () => entry((await service.metadata('export_metadata', {})) as JsonObject, 'article')?.configuration?.comment;
      await until(comment, (found) => found === String(counted));
    }
  });
});

describe.runIf(DEEP)('an instance that cannot reach the metadata database', () => {
  let relay: Relay;
  let three: TestService;

  beforeAll(async () => {
    relay = await relayTo(one.databaseUrl);
    three = await startTestService({ DATABASE_URL: one.databaseUrl, METADATA_DATABASE_URL: relay.url, SCHEMA_SYNC_POLL_INTERVAL: '100' });
  });
  afterAll(async () => {
    await three.stop();
    await relay.stop();
  });

  it('keeps serving, rejects changes and catches up', async () => {
    expect(await three.graphql('{ author { name } }')).toEqual({ data: { author: [{ name: 'Ann' }] } });
    await relay.stop();
    await one.metadata('pg_untrack_table', { table: 'article' });
    await one.metadata('pg_set_table_customization', { table: 'author', configuration: { custom_name: 'writer' } });
    const told = (): readonly string[] =>
      three.observations.flatMap((o) => (o.kind === 'source' && o.source === 'metadata' ? [o.event] : []));
    await expect.poll(told, WAIT).toContain('unreachable');
    expect(await three.graphql('{ author { name } }')).toEqual({ data: { author: [{ name: 'Ann' }] } });
    await expect(three.metadata('pg_untrack_table', { table: 'author' })).rejects.toThrow(/503 .*the metadata database cannot be reached/);
    expect(await three.graphql('{ author { name } }')).toEqual({ data: { author: [{ name: 'Ann' }] } });
    await relay.start();
    await until(() => three.graphql('{ writer { name } }'), answers);
    expect(await three.graphql('{ article { id } }')).toMatchObject({ errors: [{}] });
    await three.metadata('pg_track_table', { table: 'article' });
    await until(() => two.graphql('{ article { id } }'), answers);
    const availability = (): readonly string[] => told().filter((event) => event === 'unreachable' || event === 'available');
    await expect.poll(availability, WAIT).toEqual(['unreachable', 'available']);
  });
});

it.runIf(DEEP)('loads changes of other instances before its own change if synchronization is disabled', async () => {
  for (const role of ['first', 'second']) {
    await one.metadata('pg_create_select_permission', { table: 'article', role, permission: { columns: ['id'], filter: {} } });
  }
  const alone = await startTestService({ DATABASE_URL: one.databaseUrl, SCHEMA_SYNC_POLL_INTERVAL: '0' });
  await one.metadata('add_inherited_role', { role_name: 'both', role_set: ['first', 'second'] });
  const before = await version(one);
  await sleep(300);
  expect(await version(alone)).toBeLessThan(before);
  await alone.metadata('add_inherited_role', { role_name: 'all', role_set: ['both', 'first'] });
  expect(await version(alone)).toBe(before + 1);
  await alone.stop();
});
