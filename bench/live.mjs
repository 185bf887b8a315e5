// Measures live queries over websockets: CPU of one refresh of many cohorts in the service and in PostgreSQL, idle CPU, the time from a commit
// to the frame at the client, and the effect on ordinary queries.
//
//   npm run build && node bench/live.mjs                        on an embedded PostgreSQL created for the run
//   node bench/live.mjs --subscribers 1000 --rounds 20 --idle 10
//   node bench/live.mjs --only latency,idle
//   node bench/live.mjs --only refresh --profile folder         with a CPU profile of the service
//   node bench/live.mjs --only refresh --bloat                  without a vacuum between the rounds, each of which updates all rows
//
// About the first twenty rounds are slower, until V8 has compiled the hot code.
//
// CPU is read from /proc, so it needs Linux. The clients run in this process, the service and the database in others.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import pg from 'pg';
import WebSocket from 'ws';
import {
  administer,
  atEnd,
  databaseServer,
  HEADERS,
  makeDatabase,
  median,
  operate,
  post,
  preciseCpuOf,
  quantile,
  run,
  startService,
} from './support.mjs';

const { values: options } = parseArgs({
  options: {
    subscribers: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '20' },
    idle: { type: 'string', default: '10' },
    profile: { type: 'string' },
    bloat: { type: 'boolean', default: false },
    changes: { type: 'string', default: '40' },
    only: { type: 'string', default: 'refresh,shared,idle,latency,queries' },
  },
});
const COUNT = Number(options.subscribers);
const only = new Set(options.only.split(','));
const PORT = 18_084;
const URL_HTTP = `http://127.0.0.1:${PORT}`;
const NAME = 'svc_bench_live';
const QUERY = 'subscription ($id: Int!) { place(where: {area_id: {_eq: $id}}, order_by: {id: asc}) { id name score } }';

class Clients {
  sockets = [];
  /** Number of responses since `expect`. */
  #got = 0;
  #expected = 0;
  #done = () => undefined;
  last = new Map();

  async open(count, idOf) {
    for (let i = 0; i < count; i++) {
      const socket = new WebSocket(`ws://127.0.0.1:${PORT}/v1/graphql`, 'graphql-transport-ws');
      this.sockets.push(socket);
      socket.on('error', (error) => console.error('socket', error.message));
      socket.on('message', (data) => {
        const text = data.toString();
        if (text.startsWith('{"type":"next"') || text.includes('"type":"next"')) {
          this.#got += 1;
          if (text.includes('"errors"')) console.error(text);
          this.last.set(i, performance.now());
          if (this.#got >= this.#expected) this.#done();
        } else if (text.includes('"ping"')) socket.send('{"type":"pong"}');
        else if (text.includes('connection_ack')) {
          socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: QUERY, variables: { id: idOf(i) } } }));
        }
      });
      socket.on('open', () => socket.send('{"type":"connection_init"}'));
      if (i % 50 === 49) await sleep(20);
    }
  }

  /** Resolves after this number of responses. */
  expect(count) {
    this.#got = 0;
    this.#expected = count;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`only ${this.#got} of ${count} answers came`)), 30_000);
      this.#done = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async close() {
    for (const socket of this.sockets.splice(0)) socket.terminate();
    this.last.clear();
    await sleep(500);
  }
}

async function main() {
  const url = await makeDatabase(await databaseServer(), NAME);
  await administer(url, [
    `create table place as select i as id, i % ${COUNT} as area_id, 'Place ' || i as name, 0 as score from generate_series(1, ${COUNT * 10}) i;
     alter table place add primary key (id); create index on place (area_id); analyze`,
  ]);
  const service = await startService({
    port: PORT,
    databaseUrl: url,
    env: {
      SVC_GRAPHQL_PG_CONNECTIONS: '10',
      // Not part of the measurement.
      SVC_GRAPHQL_WEBSOCKET_KEEPALIVE: '600',
    },
    file: [...(options.profile ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []), 'dist/cli/main.js'],
  });
  await operate(PORT, 'pg_track_table', { table: 'place' });

  const writer = new pg.Client({ connectionString: url });
  await writer.connect();
  atEnd(() => writer.end());
  const backends = async () =>
    (await writer.query(`select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)).rows.map(
      ({ pid }) => pid,
    );
  const databaseCpu = (pids) => pids.reduce((sum, pid) => sum + preciseCpuOf(pid), 0);
  const clients = new Clients();
  atEnd(() => clients.close());
  const reports = async () => (await operate(PORT, 'get_subscriptions', {})).pollers;

  /** CPU of one refresh that changes all results, in the service and in PostgreSQL. */
  const refresh = async (label) => {
    const [node, database, walls] = [[], [], []];
    for (let round = 0; round < Number(options.rounds); round++) {
      // Otherwise PostgreSQL spends most of its time on dead rows of earlier rounds, once per index entry.
      if (!options.bloat) await writer.query('vacuum place');
      await sleep(1200);
      const pids = await backends();
      const before = [preciseCpuOf(service.pid), databaseCpu(pids)];
      const all = clients.expect(COUNT);
      await writer.query('update place set score = score + 1');
      const began = performance.now();
      await all;
      walls.push(performance.now() - began);
      await sleep(30);
      node.push(preciseCpuOf(service.pid) - before[0]);
      database.push(databaseCpu(await backends()) - before[1]);
    }
    console.log(
      `${label}: Node ${median(node).toFixed(1)} ms, PostgreSQL ${median(database).toFixed(1)} ms of CPU per refresh (median of ${node.length}); commit to the last frame ${median(walls).toFixed(0)} ms`,
    );
    const [poller] = await reports();
    console.log(`  last run: ${JSON.stringify(poller.last_run)}`);
  };

  const begin = async (idOf) => {
    const first = clients.expect(COUNT);
    await clients.open(COUNT, idOf);
    await first;
    await sleep(1500);
  };

  if (only.has('queries') || only.has('idle')) await sleep(500);
  const load = async () => {
    const body = JSON.stringify({ query: '{ place_by_pk(id: 5) { id name } }' });
    const result = await autocannon({
      url: `${URL_HTTP}/v1/graphql`,
      connections: 4,
      overallRate: 300,
      duration: 10,
      method: 'POST',
      headers: HEADERS,
      body,
      workers: 1,
    });
    return result.latency.p99;
  };
  const alone = only.has('queries') ? await load() : 0;

  if (only.has('shared')) {
    await begin((i) => i % 10);
    await refresh(`${COUNT} subscribers in 10 cohorts`);
    await clients.close();
  }
  await begin((i) => i);
  if (only.has('refresh')) await refresh(`${COUNT} subscribers in ${COUNT} cohorts`);
  if (only.has('idle')) {
    await sleep(3000);
    const seconds = Number(options.idle);
    const pids = await backends();
    const before = [preciseCpuOf(service.pid), databaseCpu(pids)];
    await sleep(seconds * 1000);
    const [node, database] = [preciseCpuOf(service.pid) - before[0], databaseCpu(pids) - before[1]];
    console.log(
      `nothing happens: Node ${(node / seconds).toFixed(1)} ms with ${COUNT} subscribers, PostgreSQL ${(database / seconds).toFixed(1)} ms of CPU per second`,
    );
  }
  if (only.has('latency')) {
    for (const [label, write] of [
      ['psql', (id) => writer.query('update place set score = score + 1 where id = $1', [id])],
      [
        'a mutation',
        (id) =>
          post(
            `${URL_HTTP}/v1/graphql`,
            JSON.stringify({ query: `mutation { update_place_by_pk(pk_columns: {id: ${id}}, _inc: {score: 1}) { id } }` }),
          ),
      ],
    ]) {
      const times = [];
      for (let i = 0; i < Number(options.changes); i++) {
        await sleep(1100 + Math.random() * 200);
        const id = 1 + Math.floor(Math.random() * COUNT * 9);
        const one = clients.expect(1);
        const began = performance.now();
        const written = write(id).then(() => performance.now());
        await one;
        const got = performance.now();
        times.push(Math.max(0, got - (label === 'psql' ? await written : began)));
        await written;
      }
      console.log(
        `${label} to frame, ${COUNT} subscribers, after a quiet second: p50 ${quantile(times, 0.5).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms of ${times.length}`,
      );
    }
  }
  if (only.has('queries')) {
    let goes = true;
    const changing = (async () => {
      while (goes) {
        await writer.query('update place set score = score + 1 where id % 10 = 1');
        await sleep(1000);
      }
    })();
    const beside = await load();
    goes = false;
    await changing;
    console.log(`ordinary queries at 300/s: p99 ${alone} ms without subscribers, ${beside} ms while ${COUNT} are refreshed every second`);
  }
}

await run(main);
