// Measures the effect of hanging receivers: a thousand or more deliveries wait for responses at the same time, while queries run and events of
// another trigger are delivered. Prints both with and without the hanging deliveries, and the memory of the service.
//
//   npm run build && node bench/hanging.mjs
//   node bench/hanging.mjs --hanging 3000 --seconds 8 --rate 200
//
// Service, receivers and load are separate processes. The receivers hang during the whole measurement.
import { fork } from 'node:child_process';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import pg from 'pg';
import { atEnd, cpuOf, databaseServer, HEADERS, memoryOf, operate, quantile, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    hanging: { type: 'string', default: '3000' },
    seconds: { type: 'string', default: '8' },
    /** Queries per second, with one event for every ten of them. */
    rate: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    receiver: { type: 'boolean', default: false },
  },
});
const PORT = 18_095;
const HANGING = Number(options.hanging);
const TRIGGERS = 30;
const SECONDS = Number(options.seconds);

/** Receiver: hangs at `/hang`, and reports the time of other events to its parent. */
function receive() {
  let latencies = [];
  let hanging = new Set();
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/hang') {
        hanging.add(response);
        response.on('close', () => hanging.delete(response));
        return;
      }
      latencies.push(Date.now() - JSON.parse(Buffer.concat(chunks).toString()).event.data.new.at);
      response.writeHead(200).end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
  process.on('message', (what) => {
    process.send({ latencies, hanging: hanging.size });
    latencies = [];
    if (what !== 'release') return;
    for (const response of hanging) response.writeHead(200).end();
    hanging = new Set();
  });
}

async function ask(receiver, what = 'how many') {
  const answer = new Promise((resolve) => receiver.once('message', resolve));
  receiver.send(what);
  return answer;
}

async function untilHanging(receiver, count) {
  for (let i = 0; i < 600; i++) {
    const { hanging } = await ask(receiver);
    if (hanging === count) return;
    await sleep(100);
  }
  throw new Error(`${(await ask(receiver)).hanging} of ${count} events wait for a response`);
}

/** Runs queries and events of the fast trigger for a while, evenly spread. */
async function measure({ receiver, client, service }) {
  await ask(receiver);
  const rate = Number(options.rate);
  const cpu = cpuOf(service.pid);
  const load = autocannon({
    url: `http://127.0.0.1:${PORT}/v1/graphql`,
    connections: 4,
    overallRate: rate,
    duration: SECONDS,
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ query: '{ item(limit: 20) { id name } }' }),
    workers: 1,
  });
  let events = 0;
  const began = performance.now();
  while (performance.now() - began < SECONDS * 1000) {
    await client.query('insert into quick (at) values ($1)', [Date.now()]);
    events += 1;
    await sleep(10_000 / rate);
  }
  const { latency, errors, non2xx, requests } = await load;
  if (errors + non2xx > 0) throw new Error(`${errors + non2xx} of ${requests.total} queries failed`);
  await sleep(1000);
  const { latencies } = await ask(receiver);
  return {
    p99: latency.p99,
    longest: latency.max,
    eventsP99: quantile(latencies, 0.99),
    lost: events - latencies.length,
    memory: memoryOf(service.pid),
    cpu: cpuOf(service.pid) - cpu,
  };
}

async function main() {
  const url = await databaseServer();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  atEnd(() => client.end());
  await client.query(`create table item (id int primary key, name text);
    insert into item select i, 'item ' || i from generate_series(1, 1000) i;
    create table quick (id bigserial primary key, at bigint not null); create table slow (id bigserial primary key)`);
  const receiver = fork(fileURLToPath(import.meta.url), ['--receiver']);
  atEnd(() => receiver.kill());
  const { port } = await new Promise((resolve) => receiver.once('message', resolve));
  const service = await startService({
    port: PORT,
    databaseUrl: url,
    env: {
      SVC_GRAPHQL_LOG_LEVEL: 'warn',
      // Slow triggers get half of the delivery slots.
      SVC_GRAPHQL_EVENTS_HTTP_POOL_SIZE: String(2 * HANGING + 200),
      SVC_GRAPHQL_EVENTS_FETCH_BATCH_SIZE: '500',
    },
  });
  for (const table of ['item', 'quick', 'slow']) await operate(PORT, 'pg_track_table', { table });
  const trigger = (name, table, path) =>
    operate(PORT, 'pg_create_event_trigger', {
      name,
      table,
      webhook: `http://127.0.0.1:${port}/${path}`,
      insert: { columns: '*' },
      retry_conf: { num_retries: 0, interval_sec: 1, timeout_sec: 600 },
    });
  await trigger('quick', 'quick', 'quick');
  for (let i = 0; i < TRIGGERS; i++) await trigger(`slow_${i}`, 'slow', 'hang');

  const parts = { receiver, client, service };
  await measure(parts);
  const found = { without: [], with: [] };
  for (let round = 0; round < Number(options.rounds); round++) {
    found.without.push(await measure(parts));
    await client.query('insert into slow select from generate_series(1, $1::int)', [Math.ceil(HANGING / TRIGGERS)]);
    await untilHanging(receiver, TRIGGERS * Math.ceil(HANGING / TRIGGERS));
    found.with.push(await measure(parts));
    await ask(receiver, 'release');
    await untilHanging(receiver, 0);
  }
  const of = (name, key) =>
    quantile(
      found[name].map((each) => each[key]),
      0.5,
    );
  const row = (what, key, show = (value) => `${value} ms`) => `| ${what} | ${show(of('without', key))} | ${show(of('with', key))} |`;
  console.log(`| | nothing hangs | ${HANGING} deliveries hang |\n|---|--:|--:|`);
  console.log(row(`queries at ${options.rate}/s, p99`, 'p99'));
  console.log(row('longest', 'longest'));
  console.log(row('other events, from the insert to the receiver, p99', 'eventsP99'));
  console.log(row('not delivered within a second of the end', 'lost', String));
  console.log(row('memory of the service', 'memory', (bytes) => `${Math.round(bytes / 1024 / 1024)} MB`));
  console.log(row(`processor time of the service in ${SECONDS} s`, 'cpu'));
}

if (options.receiver) receive();
else await run(main);
