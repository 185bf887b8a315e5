// Writes the metadata of a release for test/upgrade/documents: `node scripts/upgrade-document.mjs COMMIT FILE`. It builds the service of the
// commit, starts it on the tables of database.sql, runs the operations of operations.json that it has, and exports its metadata.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { NOT_INSTALLED, freePort } from './debian-postgres.mjs';
import { earlierRelease } from './earlier-release.mjs';
import { build } from './build.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

ensurePackages();
const [commit, file] = process.argv.slice(2);
if (commit === undefined || file === undefined) {
  console.error('usage: node scripts/upgrade-document.mjs COMMIT FILE');
  process.exit(2);
}
if (existsSync(file)) {
  console.error(`${file} exists: the document of a release never changes`);
  process.exit(2);
}
const main = earlierRelease(commit);
if (main === null) {
  console.error(`the history of this clone does not have the commit ${commit}`);
  process.exit(NOT_INSTALLED);
}
await build();
const { startCluster } = await import('../dist/embedded-postgres/cluster.js');
const documents = join(root, 'test', 'upgrade', 'documents');
const folder = mkdtempSync(join(tmpdir(), 'svc-document-'));
chmodSync(folder, 0o755);
const cluster = await startCluster({ dataDirectory: join(folder, 'postgres') });
try {
  const client = new pg.Client({ connectionString: cluster.url() });
  await client.connect();
  await client.query(readFileSync(join(documents, 'database.sql'), 'utf8'));
  await client.end();
  writeFileSync(file, `${JSON.stringify(await exported(), null, 2)}\n`);
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Runs the service of the commit and returns its metadata after all operations that it has. */
async function exported() {
  const port = await freePort();
  const env = {
    SVC_GRAPHQL_DATABASE_URL: cluster.url(),
    SVC_GRAPHQL_SERVER_PORT: String(port),
    SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
    HOOK_URL: 'http://127.0.0.1:9',
  };
  const service = spawn(process.execPath, [main, 'serve'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => service.once('close', resolve));
  try {
    const url = `http://127.0.0.1:${port}`;
    await isHealthy(`${url}/healthz`, ended);
    const operate = (operation) => fetch(`${url}/v1/metadata`, { method: 'POST', body: JSON.stringify(operation) });
    for (const operation of JSON.parse(readFileSync(join(documents, 'operations.json'), 'utf8'))) {
      const answer = await operate(operation);
      const text = await answer.text();
      if (answer.status !== 200) console.error(`skipped ${operation.type}: ${text}`);
    }
    return await (await operate({ type: 'export_metadata', args: {} })).json();
  } finally {
    service.kill('SIGTERM');
    await ended;
  }
}

async function isHealthy(url, ended) {
  let isRunning = true;
  void ended.then(() => {
    isRunning = false;
  });
  while (isRunning) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error('the service ended before it was healthy');
}
