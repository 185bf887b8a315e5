import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { capturedTrigger, INSERT } from '../../../../test/support/event-order.ts';
import type { Captures } from '../../../backend/captures.ts';
import { type CatalogTable, nameKey } from '../../../catalog/catalog.ts';
import { ROOT } from '../../../util/path.ts';
import { postgresql } from '../index.ts';
import { EVENT_CATALOG_LOCK } from './migrations.ts';

const ITEM = { schema: 'public', name: 'item' };

test('stops waiting for concurrent changes of triggers after the lock timeout', async () => {
  const { url, drop } = await testDatabase();
  const configuration = postgresql.configuration.decode({ connection_info: { database_url: url } }, ROOT);
  const source = await postgresql.connect(configuration, {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: true,
    maxConnections: 4,
  });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(async () => {
    await other.end();
    await source.close();
    await drop();
  });
  await source.runSql('create table item (id int primary key)', {});
  const table = (await source.introspect({ tables: [ITEM], functions: [] })).tables.get(nameKey(ITEM)) as CatalogTable;
  const captures = source.captures as Captures;
  const options = { owner: 'test', lockMs: 1000 };
  expect(await captures.install([capturedTrigger(table, 't', INSERT)], { ...options, version: 1 })).toEqual([]);
  await other.query(`begin; select pg_advisory_xact_lock(${EVENT_CATALOG_LOCK})`);
  // Without the timeout, the deadline of the service would cancel both after a minute.
  const cause = { message: expect.stringContaining('lock timeout') };
  await expect(captures.retain([], { ...options, settled: 1, removed: ['t'] })).rejects.toMatchObject({ cause });
  expect(await captures.install([capturedTrigger(table, 'u', INSERT)], { ...options, version: 2 })).toMatchObject([
    { name: 'u', error: { message: expect.stringContaining('lock timeout') } },
  ]);
});
