import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, it } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import { loadConfig } from '../config/load-config.ts';
import { provideDatabases } from './embedded-source.ts';

const configFor = (...argv: string[]) => loadConfig({ argv, environment: {} });
const quiet = (): void => undefined;

it('uses the configured databases', async () => {
  const one = 'postgres://u@localhost/one';
  const two = 'postgres://u@localhost/two';
  expect(await provideDatabases(configFor('--database-url', one), quiet)).toMatchObject({ databaseUrl: one, metadataDatabaseUrl: one });
  expect(await provideDatabases(configFor('--metadata-database-url', two), quiet)).toMatchObject({
    databaseUrl: null,
    metadataDatabaseUrl: two,
  });
  expect(await provideDatabases(configFor('--database-url', one, '--metadata-database-url', two), quiet)).toMatchObject({
    databaseUrl: one,
    metadataDatabaseUrl: two,
  });
});

it('rejects sample data for a configured database', async () => {
  await expect(provideDatabases(configFor('--database-url', 'postgres://u@localhost/one', '--sample-data'), quiet)).rejects.toThrow(
    'Fatal Error: --sample-data needs the embedded PostgreSQL',
  );
});

// A short run starts the embedded PostgreSQL only in `test/serve.test.ts`.
it.runIf(DEEP)('provides both databases when none is given, and the same ones again later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-provide-'));
  chmodSync(folder, 0o755);
  try {
    const first = await provideDatabases(configFor('--data-dir', folder, '--sample-data', '-c', '7'), quiet);
    expect(first.databaseUrl).not.toBe(first.metadataDatabaseUrl);
    await change(first.databaseUrl as string, 'delete from playlist_track');
    await change(first.metadataDatabaseUrl, 'create schema svc_catalog');
    await first.stop();

    const second = await provideDatabases(configFor('--data-dir', folder, '--sample-data'), quiet);
    expect(await change(second.databaseUrl as string, 'select count(*)::int as count from playlist_track')).toEqual([{ count: 0 }]);
    expect(await change(second.metadataDatabaseUrl, `select to_regnamespace('svc_catalog')::text as name`)).toEqual([
      { name: 'svc_catalog' },
    ]);
    await second.stop();
    await expect(change(second.metadataDatabaseUrl, 'select 1')).rejects.toThrow('ECONNREFUSED');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function change(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}
