// Runs the tests of the kind `dbc` with a real Citus: one coordinator and two workers, as ordinary servers on free ports of the loopback
// address. With `--keep` it runs no tests: it prints the URL of the coordinator for SVC_TEST_DBC_URL and stops the cluster when it is
// interrupted. Further arguments go to vitest. Exit code 3: a requirement is not installed, or ../shared/citus does not exist.
import { spawnSync } from 'node:child_process';
import { buildCitus } from './build-citus.mjs';
import { withServers } from './debian-postgres.mjs';
import { ensurePackages } from './ensure-packages.mjs';
import { runVitest } from './run-vitest.mjs';

const SETTINGS = [
  'shared_preload_libraries=citus',
  'max_prepared_transactions=300',
  'wal_level=logical',
  'citus.enable_statistics_collection=off',
  'synchronous_commit=off',
  'full_page_writes=off',
];
const given = process.argv.slice(2);

ensurePackages();
const server = { locale: 'C.UTF-8', settings: SETTINGS };
const programs = buildCitus();
process.exit(await withServers([server, server, server], (urls) => play(urls), { programs }));

async function play(urls) {
  for (const url of urls) sql(url, 'create extension citus');
  const [coordinator, ...workers] = urls;
  sql(coordinator, `select citus_set_coordinator_host('127.0.0.1', ${portOf(coordinator)})`);
  for (const worker of workers) sql(coordinator, `select citus_add_node('127.0.0.1', ${portOf(worker)})`);
  if (given.includes('--keep')) return keep(coordinator);
  return runVitest(given.length === 0 ? ['test/citus'] : given, { SVC_TEST_DBC_URL: coordinator });
}

function sql(url, statement) {
  const { status, stderr } = spawnSync('psql', [url, '-qAtc', statement], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${statement}: ${stderr}`);
}

function portOf(url) {
  return new URL(url).port;
}

/** Waits for a signal, which stops the servers. */
function keep(url) {
  console.log(`SVC_TEST_DBC_URL=${url}`);
  return new Promise(() => setInterval(() => undefined, 60_000));
}
