// Measures the cost of metrics, traces and logs: by_pk queries against services that differ in one setting, in short alternating bursts, so that
// other load affects both. Prints ratios of CPU time per request, from the scheduler's nanoseconds, and of requests per second; the former is
// meaningful on a busy machine too. `same` compares two equal services, which shows the error.
//
//   node bench/observability.mjs [same|metrics|tracing|metric_export|log_export|cache] [--requests 300] [--rounds 150] [--database-url postgres://…]
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { administer, atEnd, databaseServer, HEADERS, makeDatabase, median, operate, preciseCpuOf, run, startService } from './support.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: 'string', default: '300' }, rounds: { type: 'string', default: '150' }, 'database-url': { type: 'string' } },
});
const CLIENTS = 16;
const SINK_PORT = 18_310;

const QUERY = 'query ByPk($id: Int!) { item_by_pk(id: $id) { id name } }';
/** Settings of both services, and their requests, by comparison. */
const COMPARISONS = {
  same: { off: { env: {}, query: QUERY }, on: { env: {}, query: QUERY }, least: null },
  metrics: {
    off: { env: {}, query: QUERY },
    on: { env: { SVC_GRAPHQL_ENABLED_APIS: 'graphql,metadata,config,metrics' }, query: QUERY },
    least: 0.97,
  },
  // One request in twenty is traced. No process listens on the collector's port.
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
  // Sixty times as often as usual, to a collector that accepts everything.
  metric_export: {
    off: { env: {}, query: QUERY },
    on: {
      env: { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `http://127.0.0.1:${SINK_PORT}/v1/metrics`, OTEL_METRIC_EXPORT_INTERVAL: '1000' },
      query: QUERY,
    },
    least: 0.97,
  },
  // Each request writes a line on both sides.
  log_export: {
    off: { env: { SVC_GRAPHQL_ENABLED_LOG_TYPES: 'startup,http-log' }, query: QUERY },
    on: {
      env: {
        SVC_GRAPHQL_ENABLED_LOG_TYPES: 'startup,http-log',
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: `http://127.0.0.1:${SINK_PORT}/v1/logs`,
      },
      query: QUERY,
    },
    least: null,
  },
};

/** Query with @cached, for a few values of its variable. */
const SUMS = 'query Sums($id: Int!) CACHED { item(where: {id: {_gte: $id}}, limit: 20, order_by: {name: asc}) { id name } }';
COMPARISONS.cache = {
  off: { env: {}, query: SUMS.replace(' CACHED', '') },
  on: { env: {}, query: SUMS.replace('CACHED', '@cached(ttl: 3600)') },
  least: 2,
};

const bodies = (query) => Array.from({ length: 200 }, (_, i) => JSON.stringify({ query, variables: { id: i + 1 } }));

/** Sends a burst of requests. @returns its time in ms, and the CPU time per request in microseconds */
async function burst({ pool, pid, texts }, count) {
  const before = preciseCpuOf(pid);
  const began = performance.now();
  let next = 0;
  const client = async () => {
    for (let i = next++; i < count; i = next++) {
      const { statusCode, body } = await pool.request({
        path: '/v1/graphql',
        method: 'POST',
        headers: HEADERS,
        body: texts[i % texts.length],
      });
      const text = await body.text();
      if (statusCode !== 200 || !text.startsWith('{"data"')) throw new Error(`${statusCode} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { time: performance.now() - began, cost: ((preciseCpuOf(pid) - before) * 1000) / count };
}

/** Starts a collector that accepts and ignores everything. */
async function startSink() {
  const sink = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end());
  });
  await new Promise((resolve) => sink.listen(SINK_PORT, '127.0.0.1', resolve));
  atEnd(() => {
    sink.close();
    sink.closeAllConnections();
  });
}

await run(async () => {
  await startSink();
  const server = await databaseServer(options['database-url']);
  const count = Number(options.requests);
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
      const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CLIENTS });
      atEnd(() => pool.close());
      const side = { pid, stop, pool, texts: bodies(query), rates: [], costs: [] };
      await burst(side, 20 * count);
      sides.push(side);
    }
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const { time, cost } = await burst(side, count);
        side.rates.push((count / time) * 1000);
        side.costs.push(cost);
      }
    }
    for (const { stop } of sides) await stop();
    const [a, b] = sides;
    const ratio = (of) => median(a[of].map((_, i) => b[of][i] / a[of][i]));
    const sum = (costs) => costs.reduce((total, cost) => total + cost, 0);
    console.log(
      JSON.stringify({
        comparison: name,
        rateOff: Math.round(median(a.rates)),
        rateOn: Math.round(median(b.rates)),
        rateRatio: Number(ratio('rates').toFixed(3)),
        costOff: Number(median(a.costs).toFixed(1)),
        costOn: Number(median(b.costs).toFixed(1)),
        cpuRatio: Number((1 / ratio('costs')).toFixed(3)),
        cpuRatioOfSums: Number((sum(a.costs) / sum(b.costs)).toFixed(3)),
        least,
      }),
    );
  }
});
