// Measures joins between two PostgreSQL sources, and to a GraphQL server, against the same done by hand: statements over
// `pg`, requests by `fetch`, and rows put together in JavaScript. Prints ratios of requests per second.
//
//   npm run build && node bench/joins.mjs                        on an embedded PostgreSQL made for the run
//   node bench/joins.mjs --seconds 5 --rounds 3
//   node bench/joins.mjs --database-url postgres://…/postgres    on a server where databases may be made
//
// The floor runs in this process, the service and the load in others. Absolute numbers mean nothing across machines.
import { spawn } from 'node:child_process';
import http from 'node:http';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import pg from 'pg';
import { administer, atEnd, databaseServer, HEADERS, makeDatabase, median, operate, root, run, startService } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
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
const QUERIES = {
  '100 rows by key': '{ person(order_by: {id: asc}, limit: 100) { id name city { name } } }',
  'to a server, a call per key': '{ person(order_by: {id: asc}, limit: 100) { id name town { name } } }',
  'to a server, keys in a list': '{ person(order_by: {id: asc}, limit: 100) { id name listed_town { name } } }',
  'three levels': '{ person(order_by: {id: asc}, limit: 100) { id name purchases(order_by: {id: asc}) { item shop { title } } } }',
};

/** The same by hand: a prepared statement per level, rows told apart by their keys. */
function byHand(one, two, upstream) {
  const run = async (pool, name, text, values) => (await pool.query({ name, text, values })).rows;
  const people = () => run(one, 'people', 'select id, name, city_id from person order by id limit $1', [100]);
  const distinct = (rows, key) => [...new Set(rows.map((row) => row[key]))];
  const ask = async (query, variables) => {
    const response = await fetch(upstream, { method: 'POST', headers: HEADERS, body: JSON.stringify({ query, variables }) });
    return (await response.json()).data;
  };
  const byId = (rows) => new Map(rows.map(({ id, ...rest }) => [id, rest]));
  return {
    async '100 rows by key'() {
      const rows = await people();
      const cities = byId(await run(two, 'cities', 'select id, name from city where id = any($1::int[])', [distinct(rows, 'city_id')]));
      return { person: rows.map(({ id, name, city_id }) => ({ id, name, city: cities.get(city_id) ?? null })) };
    },
    async 'to a server, a call per key'() {
      const rows = await people();
      const ids = distinct(rows, 'city_id');
      const calls = ids.map((_, i) => `f${i}: town(id: $v${i}) { name }`);
      const found = await ask(
        `query (${ids.map((_, i) => `$v${i}: Int!`).join(' ')}) { ${calls.join(' ')} }`,
        Object.fromEntries(ids.map((id, i) => [`v${i}`, id])),
      );
      const towns = new Map(ids.map((id, i) => [id, found[`f${i}`]]));
      return { person: rows.map(({ id, name, city_id }) => ({ id, name, town: towns.get(city_id) ?? null })) };
    },
    async 'to a server, keys in a list'() {
      const rows = await people();
      const { towns: cities } = await ask('query ($ids: [Int!]!) { towns(ids: $ids) { name id } }', { ids: distinct(rows, 'city_id') });
      const towns = byId(cities);
      return { person: rows.map(({ id, name, city_id }) => ({ id, name, listed_town: towns.get(city_id) ?? null })) };
    },
    async 'three levels'() {
      const rows = await people();
      const purchases = await run(
        two,
        'purchases',
        'select person_id, item, shop_id from purchase where person_id = any($1::int[]) order by person_id, id',
        [distinct(rows, 'id')],
      );
      const shops = byId(await run(one, 'shops', 'select id, title from shop where id = any($1::int[])', [distinct(purchases, 'shop_id')]));
      const lists = new Map();
      for (const { person_id, item, shop_id } of purchases) {
        const entry = { item, shop: shops.get(shop_id) ?? null };
        const list = lists.get(person_id);
        if (list === undefined) lists.set(person_id, [entry]);
        else list.push(entry);
      }
      return { person: rows.map(({ id, name }) => ({ id, name, purchases: lists.get(id) ?? [] })) };
    },
  };
}

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

async function rate(url, query, seconds) {
  const load = { url, connections: 8, duration: seconds, method: 'POST', headers: HEADERS, body: bodyOf(query), workers: 1 };
  const result = await autocannon(load);
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} answers and ${result.errors} connections failed`);
  return result.requests.average;
}

/** Both must answer the same before they are compared. */
async function checkSame(name) {
  const [service, floor] = await Promise.all(
    SERVERS.map(async ([, url]) => (await fetch(url, { method: 'POST', headers: HEADERS, body: bodyOf(QUERIES[name]) })).json()),
  );
  const [ours, byHands] = [JSON.stringify(service), JSON.stringify(floor)];
  if (ours !== byHands) throw new Error(`${name}: the answers differ\n${ours.slice(0, 300)}\n${byHands.slice(0, 300)}`);
}

async function main() {
  const server = await databaseServer(options['database-url']);
  const databases = [];
  for (const name of NAMES) databases.push(await makeDatabase(server, name));
  for (const [i, name] of NAMES.entries()) await administer(databases[i], [TABLES[name], 'analyze']);
  const [one, two] = databases;

  const pools = [one, two].map((connectionString) => new pg.Pool({ connectionString, max: 4 }));
  for (const pool of pools) pool.on('error', () => undefined);
  atEnd(() => Promise.all(pools.map((pool) => pool.end())));
  const towns = spawn(process.execPath, ['bench/graphql-upstream.mjs'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  atEnd(() => towns.kill());
  const upstream = await new Promise((resolve) => towns.stdout.once('data', (line) => resolve(line.toString().trim())));
  const hand = byHand(...pools, upstream);
  const answers = new Map(Object.entries(QUERIES).map(([name, query]) => [query, hand[name]]));
  const floor = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      try {
        const { query } = JSON.parse(Buffer.concat(chunks).toString());
        const body = JSON.stringify({ data: await answers.get(query)() });
        response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(body) }).end(body);
      } catch (error) {
        response.writeHead(500).end(error.message);
      }
    });
  });
  await new Promise((resolve) => floor.listen(FLOOR, '127.0.0.1', resolve));
  atEnd(() => {
    floor.closeAllConnections();
    floor.close();
  });

  await startService({ port: SERVICE, databaseUrl: one, env: { SVC_GRAPHQL_PG_CONNECTIONS: '4' } });
  await setUp(two, upstream);

  console.log('| query | svc req/s | floor req/s | ratio |\n|---|--:|--:|--:|');
  for (const [name, query] of Object.entries(QUERIES)) {
    await checkSame(name);
    const rates = { svc: [], floor: [] };
    for (const [, url] of SERVERS) await rate(url, query, 1);
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const [label, url] of SERVERS) rates[label].push(await rate(url, query, Number(options.seconds)));
    }
    const [svc, hands] = [median(rates.svc), median(rates.floor)];
    console.log(`| ${name} | ${svc.toFixed(0)} | ${hands.toFixed(0)} | ${(svc / hands).toFixed(2)} |`);
  }
}

await run(main);
