// What watching costs: by_pk queries against services that differ in one setting only, in turns within one run. Ratios of requests per
// second and of the processor's time for a request; the latter holds on a busy machine too.
//
//   node bench/observability.mjs [metrics|tracing|cache] [--seconds 3] [--rounds 5] [--database-url postgres://…]
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { administer, cpuOf, databaseServer, HEADERS, makeDatabase, median, operate, run, startService } from './support.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '5' }, 'database-url': { type: 'string' } },
});

/** Of each comparison the settings of both services, and the request of each. */
const QUERY = 'query ByPk($id: Int!) { item_by_pk(id: $id) { id name } }';
const COMPARISONS = {
  metrics: {
    off: { env: {}, query: QUERY },
    on: { env: { SVC_GRAPHQL_ENABLED_APIS: 'graphql,metadata,config,metrics' }, query: QUERY },
    least: 0.97,
  },
  // Traced: one request in twenty. The collector is a port at which nobody listens.
  tracing: {
    off: { env: {}, query: QUERY },
    on: {
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
        OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.05',
      },
      query: QUERY,
    },
    least: 0.95,
  },
};

/** Work that is worth keeping, for a few values of its variable. */
const SUMS = 'query Sums($id: Int!) CACHED { item(where: {id: {_gte: $id}}, limit: 20, order_by: {name: asc}) { id name } }';
COMPARISONS.cache = {
  off: { env: {}, query: SUMS.replace(' CACHED', '') },
  on: { env: {}, query: SUMS.replace('CACHED', '@cached(ttl: 3600)') },
  least: 2,
};

const bodies = (query) =>
  Array.from({ length: 200 }, (_, i) => ({ method: 'POST', headers: HEADERS, body: JSON.stringify({ query, variables: { id: i + 1 } }) }));

async function load(port, query) {
  const { requests, errors, non2xx } = await autocannon({
    url: `http://127.0.0.1:${port}/v1/graphql`,
    connections: 32,
    duration: Number(options.seconds),
    requests: bodies(query),
  });
  if (errors + non2xx > 0) throw new Error(`${errors} connections and ${non2xx} answers failed`);
  return requests;
}

await run(async () => {
  const server = await databaseServer(options['database-url']);
  for (const name of positionals.length > 0 ? positionals : Object.keys(COMPARISONS)) {
    const { off, on, least } = COMPARISONS[name];
    const url = await makeDatabase(server, `bench_${name}`);
    await administer(url, [
      'create table item (id int primary key, name text)',
      "insert into item select i, 'item ' || i from generate_series(1, 20000) i",
    ]);
    const sides = [];
    for (const [label, { env, query }] of Object.entries({ off, on })) {
      const port = 18_300 + sides.length;
      const metadata = await makeDatabase(server, `bench_${name}_${label}`);
      const { pid, stop } = await startService({
        port,
        databaseUrl: url,
        env: { SVC_GRAPHQL_ENABLED_LOG_TYPES: 'startup', SVC_GRAPHQL_METADATA_DATABASE_URL: metadata, ...env },
      });
      await operate(port, 'pg_track_table', { table: 'item' });
      await load(port, query);
      sides.push({ label, port, pid, stop, query, rates: [], costs: [] });
    }
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const before = cpuOf(side.pid);
        const { average, total } = await load(side.port, side.query);
        side.rates.push(average);
        side.costs.push((cpuOf(side.pid) - before) / total);
      }
    }
    for (const { stop } of sides) await stop();
    const [a, b] = sides;
    const ratio = (of) => median(a[of].map((_, i) => b[of][i] / a[of][i]));
    console.log(
      JSON.stringify({
        comparison: name,
        rateOff: Math.round(median(a.rates)),
        rateOn: Math.round(median(b.rates)),
        rateRatio: Number(ratio('rates').toFixed(3)),
        cpuRatio: Number((1 / ratio('costs')).toFixed(3)),
        least,
      }),
    );
  }
});
