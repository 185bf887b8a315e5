// Measures a MariaDB source against the same queries by hand on mysql2 (`mariadb-floor.mjs`). Prints ratios of requests per second, and the CPU
// time of 1,000 requests in the process and in MariaDB. CPU times are meaningful on a busy machine too, because both sides alternate.
//
//   npm run build && node bench/mariadb.mjs                      on a mariadbd that is started for the run, and an embedded PostgreSQL for metadata
//   node bench/mariadb.mjs --seconds 5 --rounds 3 --only by_pk,insert
//   node bench/mariadb.mjs --profile /tmp/profiles               CPU profile of the service, for Chrome's developer tools
//   node bench/mariadb.mjs --database-url postgres://…/postgres  metadata on a server where databases may be created
//
// Absolute numbers cannot be compared across machines. CPU times are read from /proc, so they exist only on Linux.
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { load, requestsOf } from './load.mjs';
import { WORKLOADS } from './mariadb-floor.mjs';
import {
  atEnd,
  compareInTurn,
  cpuOf,
  databaseServer,
  HEADERS,
  makeDatabase,
  operate,
  run,
  startProcess,
  startService,
  waitFor,
} from './support.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '8' },
    only: { type: 'string' },
    profile: { type: 'string' },
    'database-url': { type: 'string' },
  },
});
const [SERVICE, FLOOR, MARIADB] = [18_184, 18_185, 18_186];

const TABLES = `create database shop; use shop;
  create table artist (id int primary key, name varchar(60)); create table genre (id int primary key, name varchar(60));
  create table album (id int primary key, title varchar(60), artist_id int, index (artist_id), foreign key (artist_id) references artist (id));
  create table track (id int primary key, name varchar(60), milliseconds int, album_id int, genre_id int, index (album_id), foreign key (album_id) references album (id), foreign key (genre_id) references genre (id));
  create table play (id int primary key auto_increment, album_id int, note varchar(60));
  insert into artist select seq, concat('Artist ', seq) from seq_1_to_400; insert into genre select seq, concat('Genre ', seq) from seq_1_to_25;
  insert into album select seq, concat('Album ', seq), seq % 400 + 1 from seq_1_to_2000;
  insert into track select seq, concat('Track ', seq), 200000 + seq, seq % 2000 + 1, seq % 25 + 1 from seq_1_to_20000; analyze table artist, genre, album, track;`;

/** @returns the process and the URL of its database `shop` */
async function startMariadb() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-mariadb-'));
  const owner = os.userInfo().username;
  const data = ['--no-defaults', `--datadir=${path.join(folder, 'data')}`, `--user=${owner}`];
  execFileSync('mariadb-install-db', [...data, '--auth-root-authentication-method=normal', '--skip-test-db'], { stdio: 'ignore' });
  const more = [`--socket=${path.join(folder, 's')}`, `--port=${MARIADB}`, '--bind-address=127.0.0.1', '--character-set-server=utf8mb4'];
  const server = spawn('mariadbd', [...data, ...more, '--innodb-flush-log-at-trx-commit=0', '--skip-log-bin'], { stdio: 'ignore' });
  const ended = new Promise((resolve) => server.once('exit', resolve));
  atEnd(async () => {
    server.kill('SIGKILL');
    await ended;
    fs.rmSync(folder, { recursive: true, force: true });
  });
  for (let i = 0; ; i++) {
    try {
      const connection = await createConnection({ host: '127.0.0.1', port: MARIADB, user: 'root', multipleStatements: true });
      await connection.query(TABLES);
      await connection.end();
      return { pid: server.pid, url: `mysql://root@127.0.0.1:${MARIADB}/shop` };
    } catch (error) {
      if (i > 200) throw error;
      await sleep(50);
    }
  }
}

async function setUp(url) {
  const dbb = (name, args) => operate(SERVICE, `dbb_${name}`, { source: 'shop', ...args });
  await operate(SERVICE, 'dbb_add_source', {
    name: 'shop',
    configuration: { connection_info: { connection_string: url, pool_settings: { max_connections: 4 } } },
  });
  for (const table of ['artist', 'genre', 'album', 'track', 'play']) await dbb('track_table', { table });
  const relate = (kind, table, name, on) => dbb(`create_${kind}_relationship`, { table, name, using: { foreign_key_constraint_on: on } });
  await relate('object', 'album', 'artist', 'artist_id');
  await relate('array', 'album', 'tracks', { table: 'track', column: 'album_id' });
  await relate('array', 'artist', 'albums', { table: 'album', column: 'artist_id' });
  await relate('object', 'track', 'genre', 'genre_id');
}

/** Requests per second, and CPU time for 1,000 requests in ms: of the process, and of MariaDB. */
async function measure({ url, pid }, workload, seconds, database) {
  const before = [cpuOf(pid), cpuOf(database)];
  const { count, rate } = await load(url, requestsOf(workload), { connections: Number(options.connections), seconds });
  const per = 1000 / count;
  return { rate, own: (cpuOf(pid) - before[0]) * per, databases: (cpuOf(database) - before[1]) * per };
}

/** Checks that both sides return the same response, except for counters. */
async function checkSame(name, sides) {
  const [{ body }] = requestsOf(WORKLOADS[name]);
  const texts = await Promise.all(
    sides.map(async ({ url }) =>
      (await (await fetch(url, { method: 'POST', headers: HEADERS, body })).text()).replaceAll(/\s(?=[":\d[{])/g, ''),
    ),
  );
  const [ours, byHands] = texts.map((text) => (name === 'insert' ? text.replace(/"id":\d+/, '') : text));
  if (ours !== byHands || ours.includes('errors'))
    throw new Error(`${name}: the responses differ\n${ours.slice(0, 300)}\n${byHands.slice(0, 300)}`);
}

async function main() {
  const mariadb = await startMariadb();
  const metadata = await makeDatabase(await databaseServer(options['database-url']), 'svc_bench_mariadb');
  const floor = startProcess(['bench/mariadb-floor.mjs', mariadb.url, String(FLOOR)]);
  await waitFor(`http://127.0.0.1:${FLOOR}/`);
  const profiling = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];
  const service = await startService({ port: SERVICE, databaseUrl: metadata, file: [...profiling, 'dist/cli/main.js'] });
  await setUp(mariadb.url);
  const sides = [
    { label: 'svc', url: `http://127.0.0.1:${SERVICE}/v1/graphql`, pid: service.pid },
    { label: 'floor', url: `http://127.0.0.1:${FLOOR}/`, pid: floor.pid },
  ];
  console.log(
    '| workload | svc req/s | floor req/s | ratio | CPU ms of 1,000: svc + MariaDB | floor + MariaDB | ratio |\n|---|--:|--:|--:|--:|--:|--:|',
  );
  for (const name of options.only?.split(',') ?? Object.keys(WORKLOADS)) {
    const workload = WORKLOADS[name];
    await checkSame(name, sides);
    await compareInTurn(name, sides, (side, seconds) => measure(side, workload, seconds, mariadb.pid), options);
  }
}

await run(main);
