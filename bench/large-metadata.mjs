// How the service takes metadata changes over many tables and roles, while requests go on.
//
//   node bench/large-metadata.mjs [--database-url postgres://…empty database] [--tables 1451] [--roles 20] [--changes 30]
//
// Prints: time of replace_metadata, of one-object changes and of reading everything anew, the first request of each
// role, the longest wait of requests sent meanwhile and how many failed, and the resident memory at the end.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { metadata, sql } from './large-schema.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    tables: { type: 'string', default: '1451' },
    roles: { type: 'string', default: '20' },
    changes: { type: 'string', default: '30' },
  },
});
const tables = Number(options.tables);
const roles = Number(options.roles);
const root = fileURLToPath(new URL('..', import.meta.url));
const base = 'http://127.0.0.1:18090';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-large-'));
let cluster = null;
let service = null;

async function post(target, body, headers = {}) {
  const response = await fetch(base + target, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${target}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}
const operation = (type, args) => post('/v1/metadata', JSON.stringify({ type, args }));
const timed = async (run) => {
  const started = performance.now();
  await run();
  return performance.now() - started;
};
const summary = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return `median ${sorted[sorted.length >> 1].toFixed(1)} ms, longest ${sorted.at(-1).toFixed(1)} ms (${list.length})`;
};
const resident = () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${service.pid}/status`, 'latin1'))[1]) / 1024);

async function stop() {
  if (service !== null && service.exitCode === null) {
    service.kill('SIGTERM');
    await new Promise((resolve) => service.once('exit', resolve));
  }
  await cluster?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function start(url) {
  service = spawn(process.execPath, ['dist/cli/main.js', 'serve'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, SVC_GRAPHQL_DATABASE_URL: url, SVC_GRAPHQL_SERVER_PORT: '18090' },
  });
  for (let i = 0; i < 400; i++) {
    try {
      if ((await fetch(`${base}/healthz`)).ok) return;
    } catch {
      // not there yet
    }
    await new Promise((r) => setTimeout(r, 25));
  }
  throw new Error('the service does not answer');
}

async function main() {
  let url = options['database-url'];
  if (!url) {
    const { startCluster } = await import('../dist/embedded/cluster.js');
    cluster = await startCluster({ dataDirectory: folder });
    url = cluster.url();
  }
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql(tables));
  await client.end();
  await start(url);

  const document = JSON.stringify(metadata(tables, roles));
  console.log(
    `replace_metadata (${(document.length / 1e6).toFixed(1)} MB): ${(await timed(() => post('/v1/metadata', document))).toFixed(0)} ms`,
  );

  const query = JSON.stringify({ query: '{ big_t0700(limit: 1) { id parent { id } } }' });
  const asRole = (r) => ({ 'x-svc-role': `role${r}`, 'x-svc-user-id': '1' });
  const first = [];
  for (let r = 0; r < roles; r++) first.push(await timed(() => post('/v1/graphql', query, asRole(r))));
  console.log(`first request of a role: ${summary(first)}`);

  // Requests of four clients while `work` is going on.
  const underTraffic = async (work) => {
    const headers = [0, 1, 2, 3].map(asRole);
    const traffic = new Worker(new URL('traffic.mjs', import.meta.url), {
      workerData: { url: `${base}/v1/graphql`, body: query, headers },
    });
    const result = new Promise((resolve, reject) => traffic.once('message', resolve).once('error', reject));
    await work();
    traffic.postMessage('stop');
    const { waits, failed } = await result;
    return `requests meanwhile: ${summary(waits)}, ${failed} failed`;
  };

  const changes = [];
  const afterwards = [];
  const table = { schema: 'big', name: 't0700' };
  const change = async (i) => {
    const even = i % 2 === 0;
    const permission = { table, role: 'late', permission: { columns: ['id'], filter: {} } };
    changes.push(
      await timed(() =>
        even ? operation('pg_create_select_permission', permission) : operation('pg_drop_select_permission', { table, role: 'late' }),
      ),
    );
    if (even)
      afterwards.push(await timed(() => post('/v1/graphql', '{"query":"{ big_t0700(limit: 1) { id } }"}', { 'x-svc-role': 'late' })));
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const meanwhile = await underTraffic(async () => {
    for (let i = 0; i < Number(options.changes); i++) await change(i);
  });
  console.log(`one-object change: ${summary(changes)}`);
  console.log(`first request of a role made just now: ${summary(afterwards)}`);
  console.log(meanwhile);
  for (const [name, work] of [
    ['reload_metadata', () => operation('reload_metadata', {})],
    ['replace_metadata', () => post('/v1/metadata', JSON.stringify(metadata(tables, roles + 1)))],
  ]) {
    let ms = 0;
    const during = await underTraffic(async () => {
      ms = await timed(work);
    });
    console.log(`${name}: ${ms.toFixed(0)} ms; ${during}`);
  }
  console.log(`resident: ${resident()} MB`);

  service.kill('SIGTERM');
  await new Promise((resolve) => service.once('exit', resolve));
  console.log(`start with this metadata: ${(await timed(() => start(url))).toFixed(0)} ms, resident ${resident()} MB`);
  await stop();
}

main().catch(async (error) => {
  console.error(error);
  await stop();
  process.exit(1);
});
