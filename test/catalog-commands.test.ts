import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { serve } from '../src/app/serve.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { DEEP, sample } from './support/deep.ts';
import { type TestDatabase, testDatabase } from './support/postgres.ts';
import { runService } from './support/process.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

async function ask(sql: string): Promise<unknown[]> {
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

async function svc(...args: string[]): Promise<{ code: number | null; output: string }> {
  const run = runService([...args, '--retries', '0'], { DATABASE_URL: database.url });
  const code = await run.ended;
  return { code, output: run.output() };
}

/** Exports through the service after tracking a table. The service has stopped afterwards. */
async function metadataOfService(): Promise<unknown> {
  const argv = [
    '--database-url',
    database.url,
    '--metadata-database-url',
    database.url,
    '--server-port',
    '0',
    '--server-host',
    '127.0.0.1',
  ];
  const service = await serve(loadConfig({ argv, environment: {} }), {
    environment: {},
    logger: { observe: () => undefined, flush: () => undefined, settle: async () => undefined },
  });
  const send = async (body: unknown): Promise<unknown> =>
    (await fetch(`${service.url}/v1/metadata`, { method: 'POST', body: JSON.stringify(body) })).json();
  try {
    expect(await send({ type: 'pg_track_table', args: { table: 'item' } })).toEqual({ message: 'success' });
    return await send({ type: 'export_metadata', version: 2, args: {} });
  } finally {
    await service.stop();
  }
}

const SCHEMA = `select to_regnamespace('svc_catalog')::text as found`;

it('exports and deletes the same metadata as the service', async () => {
  await ask('create table item (id int primary key)');
  const exported = await metadataOfService();
  const { code, output } = await svc('export');
  expect(code).toBe(0);
  expect(JSON.parse(output)).toEqual(exported);
  expect(exported).toMatchObject({ metadata: { sources: [{ tables: [{ table: { name: 'item' } }] }] } });

  expect(await svc('clean')).toEqual({ code: 1, output: 'Fatal Error: clean removes all metadata: confirm it with --yes\n' });
  expect(await ask(SCHEMA)).toEqual([{ found: 'svc_catalog' }]);

  expect(await svc('clean', '--yes')).toEqual({ code: 0, output: 'the schema svc_catalog was removed\n' });
  expect(await ask(SCHEMA)).toEqual([{ found: null }]);
  expect(await ask('select count(*)::int as rows from item')).toEqual([{ rows: 0 }]);
  expect(await svc('--yes', 'clean')).toEqual({ code: 0, output: 'there is no schema svc_catalog\n' });
});

it.runIf(DEEP)('exports nothing from an empty database, and creates nothing', async () => {
  expect(await svc('export')).toEqual({ code: 1, output: 'the database holds no metadata: it has no schema svc_catalog\n' });
  expect(await ask(SCHEMA)).toEqual([{ found: null }]);
});

it.runIf(DEEP)('rejects the catalog of a newer service', async () => {
  await ask('create schema svc_catalog; create table svc_catalog.catalog_version as select 1 as id, 1000 as version');
  expect(await svc('export')).toMatchObject({ code: 1, output: expect.stringContaining('catalog version 1000') });
});

it.each(sample(['export', 'clean'], 1))('requires a database: %s', async (command) => {
  const run = runService([command, ...(command === 'clean' ? ['--yes'] : []), '--data-dir', '/nonexistent/folder']);
  expect(await run.ended).toBe(1);
  expect(run.output()).toContain('there is no metadata database');
});
