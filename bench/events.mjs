// Measures event trigger deliveries: the time from the commit to the receiver at a steady rate, the sustained rate, and the queries of an idle
// service. The receiver is a separate process on this machine.
//
//   npm run build && node bench/events.mjs
//   node bench/events.mjs --rate 500 --seconds 20 --backlog 20000
import { fork } from 'node:child_process';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { atEnd, cpuOf, databaseServer, operate, quantile, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '20' },
    backlog: { type: 'string', default: '20000' },
    receiver: { type: 'boolean', default: false },
  },
});
const SERVICE = 18_085;

/** Receiver: reports the time of each event and the number of events to its parent. */
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

const perEvent = (before, after, events) => (Number.isNaN(after - before) ? 'unknown' : `${((after - before) / events).toFixed(2)} ms`);

async function main() {
  const url = await databaseServer();
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  atEnd(() => client.end());
  await client.query('create table item (id bigserial primary key, at bigint not null)');

  const receiver = fork(fileURLToPath(import.meta.url), ['--receiver']);
  atEnd(() => receiver.kill());
  const { port } = await new Promise((resolve) => receiver.once('message', resolve));
  const service = await startService({ port: SERVICE, databaseUrl: url, env: { SVC_GRAPHQL_LOG_LEVEL: 'warn' } });
  await operate(SERVICE, 'pg_track_table', { table: 'item' });
  await operate(SERVICE, 'pg_create_event_trigger', {
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

  // Each event in its own transaction, on several connections, evenly spread.
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  atEnd(() => pool.end());
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

  // A backlog that is inserted at once, then delivered.
  const { count: had } = await ask(receiver);
  await client.query('insert into item (at) select $1::bigint from generate_series(1, $2::int)', [Date.now(), Number(options.backlog)]);
  const cpuFrom = cpuOf(service.pid);
  const from = performance.now();
  let last = had;
  while (last < had + Number(options.backlog)) {
    await sleep(20);
    ({ count: last } = await ask(receiver));
    if (performance.now() - from > 120_000) throw new Error(`only ${last - had} events of the backlog arrived in two minutes`);
  }
  const took = (performance.now() - from) / 1000;
  const cpuTo = cpuOf(service.pid);

  console.log(`| measure | value |\n|---|--:|`);
  console.log(`| from the insert to the receiver at ${options.rate}/s, p50 | ${quantile(latencies, 0.5)} ms |`);
  console.log(`| p99 | ${quantile(latencies, 0.99)} ms |`);
  console.log(`| longest | ${quantile(latencies, 1)} ms |`);
  console.log(`| delivered of ${sent} | ${latencies.length} |`);
  console.log(`| sustained, of a backlog of ${options.backlog} | ${(Number(options.backlog) / took).toFixed(0)}/s |`);
  console.log(`| processor time of the service for an event, steady | ${perEvent(cpuBefore, cpuAfter, latencies.length)} |`);
  console.log(`| of a backlog | ${perEvent(cpuFrom, cpuTo, Number(options.backlog))} |`);
  console.log(`| transactions of an idle service, metadata and source in one database | ${(idle / 10).toFixed(1)}/s |`);
}

if (options.receiver) receive();
else await run(main);
