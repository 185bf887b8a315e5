// Measures joins between two PostgreSQL sources, and to a GraphQL server, against the same joins by hand (`joins-floor.mjs`). Prints ratios of
// requests per second, and the CPU time of 1,000 requests in the process and in PostgreSQL. CPU times are meaningful on a busy machine too,
// because both sides alternate.
//
//   npm run build && node bench/joins.mjs                        on an embedded PostgreSQL created for the run
//   node bench/joins.mjs --seconds 5 --rounds 3 --only 'three levels'
//   node bench/joins.mjs --profile /tmp/profiles                 CPU profile of the service, for Chrome's developer tools
//   node bench/joins.mjs --database-url postgres://…/postgres    on a server where databases may be created
//
// Absolute numbers cannot be compared across machines. CPU times are read from /proc, so they exist only on Linux.
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import pg from 'pg';
import { QUERIES } from './joins-floor.mjs';
import {
  administer,
  atEnd,
  compareInTurn,
  cpuOf,
  databaseServer,
  HEADERS,
  makeDatabase,
  operate,
  root,
  run,
  startProcess,
  startService,
  waitFor,
} from './support.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string' },
    profile: { type: 'string' },
    'database-url': { type: 'string' },
  },
});
const SERVICE = 18_082;
const FLOOR = 18_083;
const NAMES = ['svc_bench_one', 'svc_bench_two'];

const TABLES = {
  svc_bench_one: `create table person as select i as id, 'Person ' || i as name, i % 40 as city_id from generate_series(1, 1000) i;
    alter table person add primary key (id);
    create table shop as select i as id, 'Shop ' || i as title from generate_series(0, 99) i; alter table shop add primary key (id);`,
  svc_bench_two: `create table purchase as select i as id, i % 1000 + 1 as person_id, 'Item ' || i as item, i % 100 as shop_id from generate_series(1, 5000) i;
    alter table purchase add primary key (id); create index on purchase (person_id);
    create table city as select i as id, 'City ' || i as name from generate_series(0, 39) i; alter table city add primary key (id);`,
};
const RELATIONSHIPS = [
  ['default', 'person', 'city', 'object', 'other', 'city', { city_id: 'id' }],
  ['default', 'person', 'purchases', 'array', 'other', 'purchase', { id: 'person_id' }],
  ['other', 'purchase', 'shop', 'object', 'default', 'shop', { shop_id: 'id' }],
];
const REMOTE = [
  ['town', { town: { arguments: { id: '$city_id' } } }, {}],
  ['listed_town', { towns: { arguments: { ids: '$city_id' } } }, { batch: { match_field: 'id' } }],
];
async function setUp(other, upstream) {
  const metadata = (type, args) => operate(SERVICE, type, args);
  await metadata('pg_add_source', { name: 'other', configuration: { connection_info: { database_url: other } } });
  for (const [source, table] of [
    ['default', 'person'],
    ['default', 'shop'],
    ['other', 'purchase'],
    ['other', 'city'],
  ]) {
    await metadata('pg_track_table', { source, table });
  }
  for (const [source, table, name, relationship_type, target, of, field_mapping] of RELATIONSHIPS) {
    const definition = { to_source: { relationship_type, source: target, table: of, field_mapping } };
    await metadata('pg_create_remote_relationship', { source, table, name, definition });
  }
  await metadata('add_remote_schema', { name: 'towns', definition: { url: upstream } });
  for (const [name, remote_field, more] of REMOTE) {
    const definition = { to_remote_schema: { remote_schema: 'towns', lhs_fields: ['city_id'], remote_field, ...more } };
    await metadata('pg_create_remote_relationship', { table: 'person', name, definition });
  }
}

const SERVERS = [
  ['svc', `http://127.0.0.1:${SERVICE}/v1/graphql`],
  ['floor', `http://127.0.0.1:${FLOOR}/`],
];
const bodyOf = (query) => JSON.stringify({ query });

/** Requests per second, and CPU time for 1,000 requests in ms: of the process, and of the databases' backends. */
async function measure({ url, pid }, query, seconds, backends) {
  const load = { url, connections: 8, duration: seconds, method: 'POST', headers: HEADERS, body: bodyOf(query), workers: 1 };
  const ofBackends = () => backends.reduce((sum, each) => sum + (cpuOf(each) || 0), 0);
  const before = [cpuOf(pid), ofBackends()];
  const result = await autocannon(load);
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} answers and ${result.errors} connections failed`);
  const per = 1000 / result.requests.total;
  return { rate: result.requests.average, own: (cpuOf(pid) - before[0]) * per, databases: (ofBackends() - before[1]) * per };
}

/** Checks that both sides return the same response. */
async function checkSame(name) {
  const [service, floor] = await Promise.all(
    SERVERS.map(async ([, url]) => (await fetch(url, { method: 'POST', headers: HEADERS, body: bodyOf(QUERIES[name]) })).json()),
  );
  const [ours, byHands] = [JSON.stringify(service), JSON.stringify(floor)];
  if (ours !== byHands) throw new Error(`${name}: the responses differ\n${ours.slice(0, 300)}\n${byHands.slice(0, 300)}`);
}

async function main() {
  const server = await databaseServer(options['database-url']);
  const databases = [];
  for (const name of NAMES) databases.push(await makeDatabase(server, name));
  for (const [i, name] of NAMES.entries()) await administer(databases[i], [TABLES[name], 'analyze']);
  const [one, two] = databases;

  const towns = spawn(process.execPath, ['bench/graphql-upstream.mjs'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => towns.kill());
  const upstream = await new Promise((resolve) => towns.stdout.once('data', (line) => resolve(line.toString().trim())));
  const floor = startProcess(['bench/joins-floor.mjs', one, two, upstream, String(FLOOR)]);
  await waitFor(`http://127.0.0.1:${FLOOR}/`);
  const profiling = options.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`];

  const service = await startService({
    port: SERVICE,
    databaseUrl: one,
    env: { SVC_GRAPHQL_PG_CONNECTIONS: '4' },
    file: [...profiling, 'dist/cli/main.js'],
  });
  await setUp(two, upstream);

  const watcher = new pg.Client({ connectionString: server });
  await watcher.connect();
  atEnd(() => watcher.end());
  const sides = SERVERS.map(([label, url]) => ({ label, url, pid: (label === 'svc' ? service : floor).pid }));
  const names = Object.keys(QUERIES).filter((name) => options.only === undefined || name === options.only);
  console.log('| query | svc req/s | floor req/s | ratio | CPU ms of 1,000: svc + databases | floor + databases | ratio |');
  console.log('|---|--:|--:|--:|--:|--:|--:|');
  for (const name of names) {
    const query = QUERIES[name];
    await checkSame(name);
    let backends = [];
    const measured = async (side, seconds) => measure(side, query, seconds, backends);
    // The warm-up opens the connections, which stay open: their backends are measured.
    for (const side of sides) await measured(side, 1);
    const { rows } = await watcher.query('select pid from pg_stat_activity where datname = any($1)', [NAMES]);
    backends = rows.map(({ pid }) => pid);
    await compareInTurn(name, sides, measured, options);
  }
}

await run(main);
