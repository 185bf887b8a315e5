// Measures the service against a floor of the same runtime, in one run, and prints ratios.
//
//   npm run bench                       all workloads, on an embedded PostgreSQL created for the run
//   npm run bench -- --queries by_pk,deep --seconds 5 --rounds 3
//   npm run bench -- --database-url postgres://…   a database that already has the sample data
//
// Absolute numbers cannot be compared across machines; the ratios can.
import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { load, requestsOf } from './load.mjs';
import { databaseServer, HEADERS, median, run, startProcess, startService, waitFor } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    queries: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    'database-url': { type: 'string' },
  },
});
const [SERVICE, FLOOR] = [18_080, 18_081];
const SERVERS = [
  ['svc', `http://127.0.0.1:${SERVICE}/v1/graphql`],
  ['floor', `http://127.0.0.1:${FLOOR}/`],
];
const workloads = JSON.parse(fs.readFileSync(new URL('./workloads.json', import.meta.url), 'utf8'));
const names = options.queries?.split(',') ?? Object.keys(workloads).filter((name) => name !== 'introspection');

async function answers(url, workload) {
  const [{ body }] = requestsOf(workload);
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body });
  const text = await response.text();
  return response.ok && text.startsWith('{"data"');
}

const figuresOf = (url, workload, seconds) => load(url, requestsOf(workload), { connections: workload.connections, seconds });

/** Prints the row of a workload. */
async function compare(name) {
  const workload = workloads[name];
  if (workload === undefined) throw new Error(`no workload ${name}`);
  const usable = await Promise.all(SERVERS.map(([, url]) => answers(url, workload)));
  if (!usable[0]) return console.log(`| ${name} | not answered | | | | |`);
  const sides = SERVERS.filter((_, i) => usable[i]);
  const runs = { svc: [], floor: [] };
  for (const [, url] of sides) await figuresOf(url, workload, 1);
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [server, url] of sides) runs[server].push(await figuresOf(url, workload, Number(options.seconds)));
  }
  const of = (server, key) => median(runs[server].map((each) => each[key]));
  const ratio = usable[1] ? (of('svc', 'rate') / of('floor', 'rate')).toFixed(2) : '-';
  const floor = usable[1] ? of('floor', 'rate').toFixed(0) : '-';
  const times = `${of('svc', 'p50').toFixed(1)} | ${of('svc', 'p99').toFixed(1)}`;
  console.log(`| ${name} | ${of('svc', 'rate').toFixed(0)} | ${floor} | ${ratio} | ${times} |`);
}

await run(async () => {
  const { loadSampleData, trackSampleData } = await import('../dist/embedded-postgres/sample-data.js');
  const url = await databaseServer(options['database-url']);
  if (!options['database-url']) await loadSampleData(url);
  const floor = startProcess(['bench/floor.mjs', url, String(FLOOR)]);
  await waitFor(SERVERS[1][1], floor);
  await startService({ port: SERVICE, databaseUrl: url });
  await trackSampleData(`http://127.0.0.1:${SERVICE}`, null);
  console.log('| workload | svc req/s | floor req/s | ratio | svc p50 ms | svc p99 ms |\n|---|--:|--:|--:|--:|--:|');
  for (const name of names) await compare(name);
});
