// Measures the share of CPU time for metrics, and for tracing at a ratio of 0.05, from a profile of the service under load. Works where
// `bench/observability.mjs` does not: on a busy machine, or if two processes differ by chance.
//
//   node bench/watching-share.mjs [metrics|tracing] [--requests 60000] [--database-url postgres://…]
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { administer, atEnd, databaseServer, HEADERS, makeDatabase, operate, run, startService } from './support.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { requests: { type: 'string', default: '60000' }, 'database-url': { type: 'string' } },
});
const QUERY = 'query ByPk($id: Int!) { item_by_pk(id: $id) { id name } }';
const CLIENTS = 16;
const PORT = 18_390;
/** Settings, and the functions whose time counts, including the time of the runtime for them. */
const MODES = {
  metrics: {
    env: { SVC_GRAPHQL_ENABLED_APIS: 'graphql,metadata,config,metrics' },
    isOwn: ({ url, functionName }) =>
      /operation-meter|http-meter|metrics\/|prom-client/.test(url) || (url.includes('identify') && /^(identify|count)$/.test(functionName)),
    most: 0.03,
  },
  tracing: {
    // No process listens on the collector's port.
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.05',
    },
    isOwn: ({ url }) => /tracing\/|trace-context|traced/.test(url),
    most: 0.05,
  },
};

/** Share of the busy samples of a profile in the given functions, or in runtime functions that they call. */
function shareOf(profile, isOwn) {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  for (const node of profile.nodes) for (const child of node.children ?? []) nodes.get(child).parent = node;
  const isRuntime = ({ callFrame: { url } }) => url === '' || url.startsWith('node:');
  let busy = 0;
  let own = 0;
  profile.samples.forEach((id, i) => {
    let node = nodes.get(id);
    if (/^\((idle|program)\)$/.test(node.callFrame.functionName)) return;
    const time = profile.timeDeltas[i];
    busy += time;
    while (isRuntime(node) && node.parent !== undefined) node = node.parent;
    if (isOwn(node.callFrame)) own += time;
  });
  return own / busy;
}

await run(async () => {
  const server = await databaseServer(options['database-url']);
  for (const name of positionals.length > 0 ? positionals : Object.keys(MODES)) {
    const { env, isOwn, most } = MODES[name];
    const url = await makeDatabase(server, `share_${name}`);
    await administer(url, [
      'create table item (id int primary key, name text)',
      "insert into item select i, 'item ' || i from generate_series(1, 20000) i",
    ]);
    const metadata = await makeDatabase(server, `share_${name}_metadata`);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-profile-'));
    atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
    const { stop } = await startService({
      port: PORT,
      databaseUrl: url,
      file: ['--cpu-prof', '--cpu-prof-interval=250', `--cpu-prof-dir=${folder}`, 'dist/cli/main.js'],
      env: { SVC_GRAPHQL_ENABLED_LOG_TYPES: 'startup', SVC_GRAPHQL_METADATA_DATABASE_URL: metadata, ...env },
    });
    await operate(PORT, 'pg_track_table', { table: 'item' });
    const pool = new Pool(`http://127.0.0.1:${PORT}`, { connections: CLIENTS });
    const texts = Array.from({ length: 200 }, (_, i) => JSON.stringify({ query: QUERY, variables: { id: i + 1 } }));
    let next = 0;
    const client = async () => {
      for (let i = next++; i < Number(options.requests); i = next++) {
        const { body } = await pool.request({ path: '/v1/graphql', method: 'POST', headers: HEADERS, body: texts[i % texts.length] });
        await body.text();
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    await pool.close();
    await stop();
    // Each thread has its own profile; the one with the requests is the largest.
    const files = fs.readdirSync(folder).map((file) => path.join(folder, file));
    const [largest] = files.sort((a, b) => fs.statSync(b).size - fs.statSync(a).size);
    const share = shareOf(JSON.parse(fs.readFileSync(largest, 'utf8')), isOwn);
    console.log(JSON.stringify({ watching: name, share: Number(share.toFixed(4)), ratio: Number((1 - share).toFixed(4)), most }));
  }
});
