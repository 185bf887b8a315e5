// Measures the service against a floor of the same runtime, in one run, and prints ratios.
//
//   npm run bench                       all workloads, on an embedded PostgreSQL created for the run
//   npm run bench -- --queries by_pk,deep --seconds 5 --rounds 3
//   npm run bench -- --database-url postgres://…   a database that already has the sample data
//
// Absolute numbers cannot be compared across machines; the ratios can.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { HEADERS, median, waitFor } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    queries: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    'database-url': { type: 'string' },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const workloads = JSON.parse(fs.readFileSync(new URL('./workloads.json', import.meta.url), 'utf8'));
const names = options.queries ? options.queries.split(',') : Object.keys(workloads).filter((n) => n !== 'introspection');
const children = [];
let cluster = null;

function start(label, args, ready, env = {}) {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      if (output.length < 65536) output += chunk;
      if (ready(output)) resolve(child);
    });
    child.on('exit', (code) => reject(new Error(`${label} ended with ${code}: ${output.slice(-500)}`)));
  });
}

function bodies(workload) {
  return Array.from({ length: workload.random ? 500 : 1 }, (_, i) => {
    const variables = { ...workload.variables };
    for (const [key, [low, high]] of Object.entries(workload.random ?? {})) variables[key] = low + ((i * 7919) % (high - low + 1));
    return JSON.stringify({ query: workload.query, variables });
  });
}

async function load(url, workload, seconds) {
  const requests = bodies(workload).map((body) => ({ method: 'POST', body, headers: HEADERS }));
  const result = await autocannon({ url, connections: workload.connections, duration: seconds, requests });
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} answers and ${result.errors} connections failed`);
  return { rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 };
}

async function answers(url, workload) {
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body: bodies(workload)[0] });
  const text = await response.text();
  return response.ok && text.startsWith('{"data"');
}

async function main() {
  const { startCluster } = await import('../dist/embedded-postgres/cluster.js');
  const sample = await import('../dist/embedded-postgres/sample-data.js');
  let url = options['database-url'];
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  if (!url) {
    cluster = await startCluster({ dataDirectory: folder, settings: {} });
    url = cluster.url();
    await sample.loadSampleData(url);
  }
  const servicePort = 18_080;
  const floorPort = 18_081;
  await start('floor', ['bench/floor.mjs', url, String(floorPort)], (o) => o.includes('ready'));
  start('service', ['dist/cli/main.js', 'serve'], () => false, {
    SVC_GRAPHQL_DATABASE_URL: url,
    SVC_GRAPHQL_SERVER_PORT: String(servicePort),
  }).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
  await waitFor(`http://127.0.0.1:${servicePort}/healthz`);
  await sample.trackSampleData(`http://127.0.0.1:${servicePort}`, null);

  const servers = [
    ['svc', `http://127.0.0.1:${servicePort}/v1/graphql`],
    ['floor', `http://127.0.0.1:${floorPort}/`],
  ];
  console.log('| workload | svc req/s | floor req/s | ratio | svc p50 ms | svc p99 ms |\n|---|--:|--:|--:|--:|--:|');
  for (const name of names) {
    const workload = workloads[name];
    if (workload === undefined) throw new Error(`no workload ${name}`);
    const runs = { svc: [], floor: [] };
    const usable = await Promise.all(servers.map(([, address]) => answers(address, workload)));
    if (!usable[0]) {
      console.log(`| ${name} | not answered | | | | |`);
      continue;
    }
    for (const [i, [, address]] of servers.entries()) if (usable[i]) await load(address, workload, 1);
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const [i, [server, address]] of servers.entries())
        if (usable[i]) runs[server].push(await load(address, workload, Number(options.seconds)));
    }
    const rate = (server) => median(runs[server].map((r) => r.rate));
    const floor = usable[1] ? rate('floor') : null;
    console.log(
      `| ${name} | ${rate('svc').toFixed(0)} | ${floor === null ? '-' : floor.toFixed(0)} | ${floor === null ? '-' : (rate('svc') / floor).toFixed(2)} | ${median(runs.svc.map((r) => r.p50))} | ${median(runs.svc.map((r) => r.p99))} |`,
    );
  }
  await stop();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function stop() {
  for (const child of children) {
    child.removeAllListeners('exit');
    child.kill('SIGTERM');
  }
  await cluster?.stop();
}

process.on('SIGINT', () => stop().then(() => process.exit(130)));
main().catch(async (error) => {
  console.error(error);
  await stop();
  process.exit(1);
});
