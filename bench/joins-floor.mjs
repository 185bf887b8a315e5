// The floor for `bench/joins.mjs`: the same responses by hand, with statements over `pg`, requests by `fetch`, and rows joined in JavaScript. A
// separate process, so that its CPU time can be measured.
//
//   node bench/joins-floor.mjs <url of one database> <of the other> <of the GraphQL server> <port>
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { HEADERS } from './support.mjs';

export const QUERIES = {
  '100 rows by key': '{ person(order_by: {id: asc}, limit: 100) { id name city { name } } }',
  'to a server, a call per key': '{ person(order_by: {id: asc}, limit: 100) { id name town { name } } }',
  'to a server, keys in a list': '{ person(order_by: {id: asc}, limit: 100) { id name listed_town { name } } }',
  'three levels': '{ person(order_by: {id: asc}, limit: 100) { id name purchases(order_by: {id: asc}) { item shop { title } } } }',
};

/** Queries by hand: a prepared statement per level, with rows joined by their keys. */
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

function serve([one, two, upstream, port]) {
  const pools = [one, two].map((connectionString) => new pg.Pool({ connectionString, max: 4 }));
  for (const pool of pools) pool.on('error', () => undefined);
  const hand = byHand(...pools, upstream);
  const answers = new Map(Object.entries(QUERIES).map(([name, query]) => [query, hand[name]]));
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      try {
        if (request.method === 'GET') return response.end();
        const { query } = JSON.parse(Buffer.concat(chunks).toString());
        const body = JSON.stringify({ data: await answers.get(query)() });
        response.writeHead(200, { ...HEADERS, 'content-length': Buffer.byteLength(body) }).end(body);
      } catch (error) {
        response.writeHead(500).end(error.message);
      }
    });
  });
  server.listen(Number(port), '127.0.0.1');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(process.argv.slice(2));
