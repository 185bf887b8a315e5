import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let watcher: pg.Client;
beforeAll(async () => {
  service = await startTestService({ PG_CONNECTIONS: '2', PG_STRIPES: '2' });
  await service.sql(`
    create table item (id int primary key);
    create function slow() returns setof item language plpgsql volatile as 'begin perform pg_sleep(0.3); return query select * from item; end'`);
  await service.metadata('pg_track_table', { table: 'item' });
  await service.metadata('pg_track_function', { function: 'slow', configuration: { exposed_as: 'mutation' } });
  watcher = new pg.Client(service.databaseUrl);
  await watcher.connect();
});
afterAll(async () => {
  await watcher.end();
  await service.stop();
});

it('multiplies the connections to a source', async () => {
  let done = false;
  const answers = Promise.all(Array.from({ length: 10 }, () => service.graphql('mutation { slow { id } }'))).finally(() => {
    done = true;
  });
  let most = 0;
  while (!done) {
    const { rows } = await watcher.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and wait_event = 'PgSleep' and pid <> pg_backend_pid()`,
    );
    most = Math.max(most, rows[0]?.count ?? 0);
  }
  expect(await answers).toEqual(Array(10).fill({ data: { slow: [] } }));
  expect(most).toBe(4);
});
