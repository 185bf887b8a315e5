import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate } from '../src/metadata-store/migrations.ts';
import { DEEP, SEED } from './support/deep.ts';
import { plainSource } from './support/plain-source.ts';
import { type TestDatabase, testDatabase } from './support/postgres.ts';

/** Builds the service for the tests that run it as a process. */
function build(): void {
  const script = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the service cannot be built: ${stderr}`);
}

/** Starts one embedded PostgreSQL for the whole run, unless `SVC_TEST_PG_URL` names a server, and creates the template there. */
export async function setup(): Promise<() => Promise<void>> {
  process.env['SVC_TEST_SEED'] = String(SEED);
  console.error(`random cases: SVC_TEST_SEED=${SEED}, ${DEEP ? 'at full length' : 'few of each; SVC_TEST_DEEP=1 runs all'}`);
  build();
  const stop = process.env['SVC_TEST_PG_URL'] ? async () => undefined : await startServer();
  const template = await makeTemplate();
  return async () => {
    await template.drop();
    await stop();
  };
}

async function startServer(): Promise<() => Promise<void>> {
  const { startCluster } = await import('../src/embedded-postgres/cluster.ts');
  const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  chmodSync(folder, 0o755); // otherwise the database's user cannot enter when root runs the tests
  const cluster = await startCluster({
    dataDirectory: join(folder, 'postgres'),
    log: (message) => console.error(message),
    // No data needs to survive a crash.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      autovacuum: 'off',
      max_connections: '300',
    },
  });
  process.env['SVC_TEST_PG_URL'] = cluster.url();
  return async () => {
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
}

/** A database with an empty catalog of the service as a template: `testDatabase('ready')`. */
async function makeTemplate(): Promise<TestDatabase> {
  const database = await testDatabase();
  const source = plainSource(database.url);
  await migrate(source);
  await source.close();
  process.env['SVC_TEST_TEMPLATE'] = new URL(database.url).pathname.slice(1);
  return database;
}
