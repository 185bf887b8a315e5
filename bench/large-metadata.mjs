// Measures metadata changes with many tables and roles while requests continue.
//
//   node bench/large-metadata.mjs [--database-url postgres://…empty database] [--tables 1451] [--roles 20] [--changes 30]
//
// Prints the times of replace_metadata, of changes of one object and of a complete reload, the first request of each role, the longest wait of
// requests sent meanwhile and the number that failed, and the resident memory at the end.
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { metadata, sql } from './large-schema.mjs';
import { administer, databaseServer, memoryOf, operate, post as postTo, run, startService, timed } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    tables: { type: 'string', default: '1451' },
    roles: { type: 'string', default: '20' },
    changes: { type: 'string', default: '30' },
  },
});
const tables = Number(options.tables);
const roles = Number(options.roles);
const PORT = 18_090;
const base = `http://127.0.0.1:${PORT}`;
let service = null;

const post = (target, body, headers) => postTo(base + target, body, headers);
const operation = (type, args) => operate(PORT, type, args);
const summary = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return `median ${sorted[sorted.length >> 1].toFixed(1)} ms, longest ${sorted.at(-1).toFixed(1)} ms (${list.length})`;
};
const resident = () => Math.round(memoryOf(service.pid) / 1_048_576);

async function start(databaseUrl) {
  service = await startService({ port: PORT, databaseUrl });
}

async function main() {
  const url = await databaseServer(options['database-url']);
  await administer(url, [sql(tables)]);
  await start(url);

  const document = JSON.stringify(metadata(tables, roles));
  console.log(
    `replace_metadata (${(document.length / 1e6).toFixed(1)} MB): ${(await timed(() => post('/v1/metadata', document))).toFixed(0)} ms`,
  );

  const query = JSON.stringify({ query: '{ big_t0700(limit: 1) { id parent { id } } }' });
  const asRole = (r) => ({ 'x-svc-role': `role${r}`, 'x-svc-user-id': '1' });
  const first = [];
  for (let r = 0; r < roles; r++) first.push(await timed(() => post('/v1/graphql', query, asRole(r))));
  console.log(`first request of a role: ${summary(first)}`);

  // Requests of four clients while `work` runs.
  const underTraffic = async (work) => {
    const headers = [0, 1, 2, 3].map(asRole);
    const traffic = new Worker(new URL('traffic.mjs', import.meta.url), {
      workerData: { url: `${base}/v1/graphql`, body: query, headers },
    });
    const result = new Promise((resolve, reject) => traffic.once('message', resolve).once('error', reject));
    await work();
    traffic.postMessage('stop');
    const { waits, failed } = await result;
    return `requests meanwhile: ${summary(waits)}, ${failed} failed`;
  };

  const changes = [];
  const afterwards = [];
  const table = { schema: 'big', name: 't0700' };
  const change = async (i) => {
    const even = i % 2 === 0;
    const permission = { table, role: 'late', permission: { columns: ['id'], filter: {} } };
    changes.push(
      await timed(() =>
        even ? operation('pg_create_select_permission', permission) : operation('pg_drop_select_permission', { table, role: 'late' }),
      ),
    );
    if (even)
      afterwards.push(await timed(() => post('/v1/graphql', '{"query":"{ big_t0700(limit: 1) { id } }"}', { 'x-svc-role': 'late' })));
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  const meanwhile = await underTraffic(async () => {
    for (let i = 0; i < Number(options.changes); i++) await change(i);
  });
  console.log(`one-object change: ${summary(changes)}`);
  console.log(`first request of a role that was just created: ${summary(afterwards)}`);
  console.log(meanwhile);
  for (const [name, work] of [
    ['reload_metadata', () => operation('reload_metadata', {})],
    ['replace_metadata', () => post('/v1/metadata', JSON.stringify(metadata(tables, roles + 1)))],
  ]) {
    let ms = 0;
    const during = await underTraffic(async () => {
      ms = await timed(work);
    });
    console.log(`${name}: ${ms.toFixed(0)} ms; ${during}`);
  }
  console.log(`resident: ${resident()} MB`);

  await service.stop();
  console.log(`start with this metadata: ${(await timed(() => start(url))).toFixed(0)} ms, resident ${resident()} MB`);
}

await run(main);
