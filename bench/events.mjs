// Measures deliveries of event triggers: from the commit to the receiver at a steady rate, the rate that is sustained, and
// what an idle service asks the database. The receiver is a process of its own on this machine.
//
//   npm run build && node bench/events.mjs
//   node bench/events.mjs --rate 500 --seconds 20 --backlog 20000
import { fork, spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '20' },
    backlog: { type: 'string', default: '20000' },
    receiver: { type: 'boolean', default: false },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const SERVICE = 18_085;

/** The receiver: tells its parent how long each event took, and how many have come. */
function receive() {
  let latencies = [];
  let count = 0;
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { event } = JSON.parse(Buffer.concat(chunks).toString());
      latencies.push(Date.now() - event.data.new.at);
      count += 1;
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('message', () => {
    process.send({ latencies, count });
    latencies = [];
  });
}

async function ask(receiver) {
  const answer = new Promise((resolve) => receiver.once('message', resolve));
  receiver.send('how many');
  return answer;
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
/** ms of processor time of a process so far; null where the system does not tell. */
function cpuOf(pid) {
  try {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}
const perEvent = (before, after, events) =>
  before === null || after === null ? 'unknown' : `${((after - before) / events).toFixed(2)} ms`;

const stops = [];

async function metadata(type, args) {
  const response = await fetch(`http://127.0.0.1:${SERVICE}/v1/metadata`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type, args }),
  });
  if (!response.ok) throw new Error(`${type}: ${await response.text()}`);
}

async function main() {
  const { startCluster } = await import('../dist/embedded/cluster.js');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  fs.chmodSync(folder, 0o755);
  stops.push(() => fs.rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ dataDirectory: path.join(folder, 'postgres'), settings: {} });
  stops.push(() => cluster.stop());
  const client = new pg.Client({ connectionString: cluster.url() });
  await client.connect();
  stops.push(() => client.end());
  await client.query('create table item (id bigserial primary key, at bigint not null)');

  const receiver = fork(fileURLToPath(import.meta.url), ['--receiver']);
  stops.push(() => receiver.kill());
  const { port } = await new Promise((resolve) => receiver.once('message', resolve));
  const service = spawn(process.execPath, ['dist/cli/main.js', 'serve'], {
    cwd: root,
    env: {
      ...process.env,
      SVC_GRAPHQL_DATABASE_URL: cluster.url(),
      SVC_GRAPHQL_SERVER_PORT: String(SERVICE),
      SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
      SVC_GRAPHQL_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  stops.push(() => {
    service.kill('SIGTERM');
    return ended;
  });
  for (let i = 0; ; i++) {
    if (i === 400) throw new Error('the service does not answer');
    if (
      await fetch(`http://127.0.0.1:${SERVICE}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break;
    await sleep(50);
  }
  await metadata('pg_track_table', { table: 'item' });
  await metadata('pg_create_event_trigger', {
    name: 'item_made',
    table: { schema: 'public', name: 'item' },
    webhook: `http://127.0.0.1:${port}/`,
    insert: { columns: '*' },
  });

  const transactions = async () =>
    Number((await client.query('select xact_commit from pg_stat_database where datname = current_database()')).rows[0].xact_commit);
  await sleep(3000);
  const before = await transactions();
  await sleep(10_000);
  const idle = (await transactions()) - before;

  // Each event in a transaction of its own, several connections, evenly in time.
  const pool = new pg.Pool({ connectionString: cluster.url(), max: 8 });
  stops.push(() => pool.end());
  const insert = () => pool.query({ name: 'i', text: 'insert into item (at) values ($1)', values: [Date.now()] });
  for (let i = 0; i < 200; i++) await insert();
  await sleep(1000);
  await ask(receiver);
  const cpuBefore = cpuOf(service.pid);
  const started = performance.now();
  let sent = 0;
  const waiting = [];
  while (performance.now() - started < Number(options.seconds) * 1000) {
    const due = Math.floor(((performance.now() - started) / 1000) * Number(options.rate));
    for (; sent < due; sent++) waiting.push(insert());
    await sleep(2);
  }
  await Promise.all(waiting);
  await sleep(2000);
  const cpuAfter = cpuOf(service.pid);
  const { latencies } = await ask(receiver);
  latencies.sort((a, b) => a - b);

  // A backlog that is there at once, then worked off.
  const { count: had } = await ask(receiver);
  await client.query('insert into item (at) select $1::bigint from generate_series(1, $2::int)', [Date.now(), Number(options.backlog)]);
  const cpuFrom = cpuOf(service.pid);
  const from = performance.now();
  let last = had;
  while (last < had + Number(options.backlog)) {
    await sleep(20);
    ({ count: last } = await ask(receiver));
    if (performance.now() - from > 120_000) throw new Error(`only ${last - had} events of the backlog came in two minutes`);
  }
  const took = (performance.now() - from) / 1000;
  const cpuTo = cpuOf(service.pid);

  console.log(`| measure | value |\n|---|--:|`);
  console.log(`| from the insert to the receiver at ${options.rate}/s, p50 | ${quantile(latencies, 0.5)} ms |`);
  console.log(`| p99 | ${quantile(latencies, 0.99)} ms |`);
  console.log(`| longest | ${latencies.at(-1)} ms |`);
  console.log(`| delivered of ${sent} | ${latencies.length} |`);
  console.log(`| sustained, of a backlog of ${options.backlog} | ${(Number(options.backlog) / took).toFixed(0)}/s |`);
  console.log(`| processor time of the service for an event, steady | ${perEvent(cpuBefore, cpuAfter, latencies.length)} |`);
  console.log(`| of a backlog | ${perEvent(cpuFrom, cpuTo, Number(options.backlog))} |`);
  console.log(`| transactions of an idle service, metadata and source in one database | ${(idle / 10).toFixed(1)}/s |`);
}

async function stop() {
  for (const each of stops.splice(0).reverse()) await Promise.resolve(each()).catch?.((error) => console.error(error));
}

if (options.receiver) receive();
else {
  process.on('SIGINT', () => stop().then(() => process.exit(130)));
  main()
    .catch((error) => {
      console.error(error);
      process.exitCode = 1;
    })
    .finally(stop);
}
