// Searches for lost events: two instances on one database, each killed at random times, occasional crashes of PostgreSQL, and receivers that
// hang, reset, and respond with 500, 429 with Retry-After, redirects and 10 MB. Every committed event must reach its receiver; an event that
// arrives twice must have been in delivery during a fault; no event may wait for more than a minute after it was due or attempted, or after
// the instance that had leased it died.
//
//   npm run build && npm run faults -- --events 100000 --kills 200 --restarts 40
//   npm run faults                                  5,000 events, 10 kills, 2 restarts
//   npm run faults -- --output faults.json          file for counts and the history of faults
//   npm run faults -- --kind network                proxies that cut, delay and swallow: see faults/network.mjs
//   npm run faults -- --kind dbb                    the table with the trigger is in a MariaDB, which crashes in place of PostgreSQL
//
// Half of the events are of an event trigger, the others are one-off schedules.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { mariadbServer } from '../bench/mariadb-server.mjs';
import { networkFaults } from './faults/network.mjs';
import { waits } from './faults/waits.mjs';
import { atEnd, databaseServer, operate, root, run, waitFor } from '../bench/support.mjs';

const { values: options } = parseArgs({
  options: {
    events: { type: 'string', default: '5000' },
    kills: { type: 'string', default: '10' },
    restarts: { type: 'string', default: '2' },
    /** Events per second. */
    rate: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    /** Kind of the database with the event trigger, `pg` or `dbb`; `network` breaks connections instead of processes. */
    kind: { type: 'string', default: 'pg' },
    /** Length of a run of the kind `network`. */
    seconds: { type: 'string', default: '80' },
    output: { type: 'string', default: path.join(os.tmpdir(), 'svc-faults.json') },
  },
});
const EVENTS = Number(options.events);
/** Port of the first instance; runs of different kinds do not conflict. */
const PORT = options.kind === 'dbb' ? 18_191 : 18_091;
if (!['pg', 'dbb', 'network'].includes(options.kind)) throw new Error(`unknown kind ${options.kind}: pg, dbb or network`);
/** Maximum wait of an event, in s: a lease, a poll for free events, and a margin for a busy machine. */
const LONGEST_WAIT = 60;
/** Lease of an instance on an event, in s. */
const LEASE = 45;
/** Maximum time to record a delivery, which may wait for the database, in s. */
const ON_THE_WAY = 15;
const BIG = Buffer.alloc(10 * 1024 * 1024, 'x');

function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const random = seeded(Number(options.seed));
const started = performance.now();
const now = () => (performance.now() - started) / 1000;

/** Per event: the time of its commit, its attempts with their process, and the time of its acceptance. */
const made = new Map();
const attempts = new Map();
const accepted = new Map();
const behaviours = { ok: 0, hang: 0, reset: 0, error: 0, busy: 0, redirect: 0, big: 0 };
const history = [];
/** Samples of the run every ten seconds: a long wait while many events wait is caused by the machine. */
const progress = [];
/** Per event: its leases `{ holder, granted, last }` as its row showed them, with the time of the grant and of the last sight. */
const leases = new Map();
/** Processes by the id under which they lease events. */
const holders = new Map();
let inserted = 0;
const fault = (what, detail = {}) => history.push({ at: Number(now().toFixed(3)), what, ...detail });

function behaviour() {
  const dice = random();
  if (dice < 0.01) return 'hang';
  if (dice < 0.04) return 'reset';
  if (dice < 0.09) return 'error';
  if (dice < 0.12) return 'busy';
  if (dice < 0.14) return 'redirect';
  if (dice < 0.142) return 'big';
  return 'ok';
}

const receiver = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('error', () => undefined);
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const key = body.trigger === undefined ? `one-off ${body.payload.n}` : `trigger ${body.event.data.new.n}`;
    // The first part of the path is the process.
    push(attempts, key, { at: now(), by: request.url.split('/', 2)[1] });
    const how = behaviour();
    behaviours[how] += 1;
    switch (how) {
      case 'hang':
        return;
      case 'reset':
        return void request.socket.destroy();
      case 'error':
        return void response.writeHead(500).end('no');
      case 'busy':
        return void response.writeHead(429, { 'Retry-After': '1' }).end();
      case 'redirect':
        return void response.writeHead(302, { location: '/elsewhere' }).end();
      case 'big':
        push(accepted, key, now());
        response.on('error', () => undefined);
        return void response.writeHead(200).end(BIG);
      default:
        push(accepted, key, now());
        return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    }
  });
});

function push(map, key, value) {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

class Instance {
  /** @param shop database with the event trigger, if it is not the metadata database */
  constructor(name, databaseUrl, port, shop) {
    Object.assign(this, { name, databaseUrl, port, shop, child: undefined, starts: 0 });
  }

  async start() {
    this.starts += 1;
    this.child = spawn(process.execPath, ['dist/cli/main.js', 'serve'], {
      cwd: root,
      env: {
        ...process.env,
        SVC_GRAPHQL_DATABASE_URL: this.databaseUrl,
        SVC_GRAPHQL_SERVER_PORT: String(this.port),
        SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
        SVC_GRAPHQL_PG_CONNECTIONS: '10',
        SVC_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
        SVC_GRAPHQL_LOG_LEVEL: 'info',
        SVC_GRAPHQL_LOG_FORMAT: 'json',
        HOOKS: `${receiverUrl()}/${this.process}`,
        ...(this.shop === undefined ? {} : { SHOP: this.shop }),
      },
      stdio: ['ignore', 'pipe', process.env.FAULTS_LOG ? 'inherit' : 'ignore'],
    });
    const name = this.process;
    createInterface({ input: this.child.stdout }).on('line', (line) => noteHolder(line, name));
    this.ended = new Promise((resolve) => this.child.once('exit', resolve));
    // Started again if it could not start because the database was down.
    this.child.once('exit', () => {
      if (!this.stopping) void sleep(300).then(() => this.start());
    });
    await sleep(0);
  }

  ready() {
    return waitFor(`http://127.0.0.1:${this.port}/healthz`);
  }

  get process() {
    return `${this.name}-${this.starts}`;
  }

  kill() {
    fault('kill', { instance: this.name, process: this.process });
    this.child.kill('SIGKILL');
  }

  async stop() {
    this.stopping = true;
    this.child.kill('SIGTERM');
    await this.ended;
  }
}

/** A process logs at its start under which id it leases events. */
function noteHolder(line, name) {
  if (process.env.FAULTS_LOG) console.error(`${name} ${line}`);
  if (!line.includes('instance_id')) return;
  const { info } = JSON.parse(line).detail;
  holders.set(info.instance_id, name);
}

const receiverUrl = () => `http://127.0.0.1:${receiver.address().port}`;

/** Runs one statement on a new connection, because others may be broken. */
async function sql(url, text, values = []) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function persistently(task) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      if (attempt === 200) throw error;
      await sleep(100);
    }
  }
}

/** Kills one process of PostgreSQL, which then ends all others and recovers. */
async function crashPostgres(url) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  fault('crash of the database');
  process.kill(rows[0].pid, 'SIGKILL');
  await client.end().catch(() => undefined);
}

const RETRY = { num_retries: 100_000 };
const ONE_OFFS = `
  insert into svc_catalog.svc_scheduled_events (id, webhook_conf, scheduled_time, retry_conf, payload)
  select md5('one-off' || n), '"{{HOOKS}}/one-off"', now(),
    '{"num_retries": 100000, "retry_interval_seconds": 1, "timeout_seconds": 5}', json_build_object('n', n)`;

const TAKEN_ONE_OFFS = `
  select 'one-off ' || (payload ->> 'n') as key, lease_holder as holder, extract(epoch from lease_until - now())::float8 as left
  from svc_catalog.svc_scheduled_events where lease_holder is not null`;
const TAKEN_OF_POSTGRES = `
  select 'trigger ' || (payload #>> '{data,new,n}') as key, lease_holder as holder,
    extract(epoch from lease_until - now() at time zone 'utc')::float8 as left
  from svc_catalog.event_log where lease_holder is not null`;
const TAKEN_OF_MARIADB = `
  select concat('trigger ', json_value(payload, '$.data.new.n')) as \`key\`, lease_holder as holder,
    timestampdiff(microsecond, utc_timestamp(6), lease_until) / 1000000 as \`left\`
  from svc_catalog.event_log where lease_holder is not null`;

/** Samples all leases; a sample that the database does not answer is skipped. */
async function seeLeases(look) {
  const rows = await look().catch(() => []);
  const at = now();
  for (const { key, holder, left } of rows) {
    const granted = at - (LEASE - Number(left));
    const last = leases.get(key)?.at(-1);
    if (last !== undefined && last.holder === holder && Math.abs(last.granted - granted) < 1) last.last = at;
    else push(leases, key, { holder, granted, last: at });
  }
}

/** Writes to a table with an event trigger in the metadata database: a batch is one statement. */
function itemsOfPostgres(url) {
  return {
    operations: 'pg',
    source: 'default',
    create: () => sql(url, 'create table item (n int primary key)'),
    async insert(from, to) {
      // A failed statement may have been committed.
      const [{ count }] = await sql(url, 'select count(*)::int as count from item where n = $1', [from]);
      if (count > 0) return;
      await sql(url, `with made as (insert into item (n) select generate_series($1::int, $2::int) returning n) ${ONE_OFFS} from made`, [
        from,
        to,
      ]);
    },
    async all() {
      return (await sql(url, 'select n from item order by n')).map(({ n }) => n);
    },
    taken: () => sql(url, `${TAKEN_ONE_OFFS} union all ${TAKEN_OF_POSTGRES}`),
    crash: () => crashPostgres(url),
  };
}

/** Writes to a MariaDB: rows first, then one-off events for those that exist. */
function itemsOfMariadb(url, server) {
  const run = async (text, values) => {
    const connection = await createConnection({ uri: server.url('shop') });
    connection.on('error', () => undefined);
    try {
      return (await connection.query(text, values))[0];
    } finally {
      connection.destroy();
    }
  };
  return {
    operations: 'dbb',
    source: 'shop',
    async create() {
      const connection = await createConnection({ host: '127.0.0.1', port: server.port, user: 'root' });
      await connection.query('create database shop');
      await connection.query('create table shop.item (n int primary key)');
      await connection.end();
    },
    async insert(from, to) {
      const rows = Array.from({ length: to - from + 1 }, (_, i) => [from + i]);
      const found = await run('select 1 from item where n = ?', [from]);
      if (found.length === 0) await run('insert into item (n) values ?', [rows]);
      await sql(url, `${ONE_OFFS} from generate_series($1::int, $2::int) n on conflict do nothing`, [from, to]);
    },
    async all() {
      return (await run('select n from item order by n', [])).map(({ n }) => n);
    },
    async taken() {
      const [oneOffs, captured] = await Promise.allSettled([sql(url, TAKEN_ONE_OFFS), run(TAKEN_OF_MARIADB, [])]);
      return [oneOffs, captured].flatMap(({ value = [] }) => value);
    },
    async crash() {
      fault('crash of the database');
      await server.kill();
      await server.start();
    },
  };
}

async function insertAll(items) {
  const each = Math.max(1, Math.round(Number(options.rate) / 20));
  const rows = Math.ceil(EVENTS / 2);
  for (let n = 1; n <= rows; n += each) {
    const upTo = Math.min(rows, n + each - 1);
    const began = performance.now();
    await persistently(() => items.insert(n, upTo));
    inserted = 2 * upTo;
    for (let each = n; each <= upTo; each++) for (const of of ['trigger', 'one-off']) made.set(`${of} ${each}`, now());
    await sleep(Math.max(0, 100 - (performance.now() - began)));
  }
}

async function doFaults(items, instances, signal) {
  const seconds = EVENTS / Number(options.rate);
  const faults = [...Array(Number(options.kills)).fill('kill'), ...Array(Number(options.restarts)).fill('crash')];
  for (let i = faults.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [faults[i], faults[j]] = [faults[j], faults[i]];
  }
  const pause = (seconds / (faults.length + 1)) * 1000;
  for (const each of faults) {
    await sleep(pause * (0.5 + random()), undefined, { signal }).catch(() => undefined);
    if (each === 'kill') instances[random() < 0.5 ? 0 : 1].kill();
    else await persistently(() => items.crash());
  }
}

const missing = async (items) => {
  const rows = await persistently(() => items.all());
  const keys = rows.flatMap((n) => [`trigger ${n}`, `one-off ${n}`]);
  return { committed: keys.length, keys: keys.filter((key) => !accepted.has(key)) };
};

/** Maximum number of events that waited at one of the samples. */
const mostBehind = () => Math.max(0, ...progress.map(({ inserted: all, accepted: done }) => all - done));

function findings(committed, lost) {
  const faults = history.map(({ at }) => at);
  let duplicates = 0;
  let unexplained = 0;
  for (const times of accepted.values()) {
    duplicates += times.length - 1;
    for (let i = 1; i < times.length; i++) {
      const first = times[i - 1];
      if (!faults.some((at) => at >= first - 1 && at <= first + ON_THE_WAY)) unexplained += 1;
    }
  }
  const longest = waits({ made, attempts, leases, holders, history });
  return {
    kind: options.kind,
    seed: Number(options.seed),
    committed,
    delivered: committed - lost.length,
    lost: lost.length,
    attempts: [...attempts.values()].reduce((sum, times) => sum + times.length, 0),
    duplicates,
    unexplained_duplicates: unexplained,
    longest_wait_s: longest[0]?.wait ?? 0,
    longest_wait_between_attempts_s: Math.max(0, ...longest.map(({ between }) => between)),
    most_events_behind: mostBehind(),
    receiver: behaviours,
    kills: history.filter(({ what }) => what === 'kill').length,
    crashes: history.filter(({ what }) => what.startsWith('crash')).length,
    seconds: Number(now().toFixed(1)),
    longest,
  };
}

/** Events with the longest waits, by either measure. */
function tellable(longest) {
  const between = [...longest].sort((a, b) => b.between - a.between).slice(0, 20);
  return [...new Set([...longest.slice(0, 20), ...between])];
}

async function main() {
  const url = await databaseServer(undefined, { max_connections: '200' });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  atEnd(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const mariadb = options.kind === 'dbb' ? await mariadbServer() : undefined;
  if (mariadb !== undefined) atEnd(() => mariadb.stop());
  const items = mariadb === undefined ? itemsOfPostgres(url) : itemsOfMariadb(url, mariadb);
  await items.create();
  const instances = [
    ['one', PORT],
    ['two', PORT + 1],
  ].map(([name, port]) => new Instance(name, url, port, mariadb?.url('shop')));
  await instances[0].start();
  atEnd(() => instances[0].stop());
  await instances[0].ready();
  const { operations, source } = items;
  if (mariadb !== undefined) {
    const configuration = { connection_info: { connection_string: { from_env: 'SHOP' } } };
    await operate(PORT, 'dbb_add_source', { name: source, configuration });
  }
  await operate(PORT, `${operations}_track_table`, { source, table: 'item' });
  await operate(PORT, `${operations}_create_event_trigger`, {
    source,
    name: 'item_made',
    table: 'item',
    webhook: '{{HOOKS}}/trigger',
    insert: { columns: '*' },
    retry_conf: { ...RETRY, interval_sec: 1, timeout_sec: 5 },
  });
  await instances[1].start();
  atEnd(() => instances[1].stop());
  await instances[1].ready();

  const over = new AbortController();
  const watch = setInterval(() => progress.push({ at: Math.round(now()), inserted, accepted: accepted.size }), 10_000);
  atEnd(() => clearInterval(watch));
  const looks = setInterval(() => void seeLeases(items.taken), 300);
  atEnd(() => clearInterval(looks));
  const faults = doFaults(items, instances, over.signal);
  await insertAll(items);
  over.abort();
  await faults;
  let left = await missing(items);
  for (const end = now() + 2 * LONGEST_WAIT; left.keys.length > 0 && now() < end; left = await missing(items)) await sleep(500);
  // Events in delivery may be delivered twice.
  await sleep(2000);
  const { longest, ...result } = findings(left.committed, left.keys);
  const told = { ...result, lost_events: left.keys.slice(0, 1000), longest_waits: tellable(longest), progress, history };
  fs.writeFileSync(options.output, `${JSON.stringify(told, null, 2)}\n`);
  console.log(JSON.stringify(result, null, 2));
  console.log(`counts and history: ${options.output}`);
  const complaints = [
    result.lost > 0 && `${result.lost} events were lost`,
    result.committed !== 2 * Math.ceil(EVENTS / 2) && `only ${result.committed} events were committed`,
    result.unexplained_duplicates > 0 && `${result.unexplained_duplicates} duplicates without a fault`,
    result.longest_wait_s > LONGEST_WAIT && `an event waited for ${result.longest_wait_s} s`,
  ].filter(Boolean);
  for (const complaint of complaints) console.error(`FAILED: ${complaint}`);
  if (complaints.length > 0) process.exitCode = 1;
}

async function network() {
  const { output, seconds, seed } = options;
  const complaints = await networkFaults({ seed: Number(seed), seconds: Number(seconds), output });
  for (const complaint of complaints) console.error(`FAILED: ${complaint}`);
  if (complaints.length > 0) process.exitCode = 1;
}

await run(options.kind === 'network' ? network : main);
