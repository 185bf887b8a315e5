// Measures trusted documents: how long pushes take and how long other requests wait meanwhile, the memory of documents, and requests by id
// against requests with the text, on the same service in turn; and GET requests that are answered with 304.
//
//   node bench/documents.mjs [--database-url postgres://…server] [--documents 5000] [--roles 3] [--seconds 4] [--rounds 5] [--port 18092]
//
// Prints one JSON object. Needs a build, and a quiet machine for the times.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, request, setGlobalDispatcher } from 'undici';
import { administer, cpuOf, databaseServer, HEADERS, makeDatabase, median, memoryOf, post, run, startService, timed } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    'database-url': { type: 'string' },
    documents: { type: 'string', default: '5000' },
    roles: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    port: { type: 'string', default: '18092' },
    service: { type: 'string', default: 'dist/cli/main.js' },
  },
});
const port = Number(options.port);
const base = `http://127.0.0.1:${port}`;
const roles = Array.from({ length: Number(options.roles) }, (_, i) => `role${i}`);
setGlobalDispatcher(new Agent({ connections: 8 }));

const sha256 = (text) => createHash('sha256').update(text).digest('hex');
const padded = (text, length) => `${text}${'\n#'.padEnd(Math.max(2, length - text.length), 'x')}`;
/** A document of about 1 kB with many fields. */
const document = (n) => {
  const fields = Array.from({ length: 20 }, (_, i) => `f${i}: name id_${i}: id`).join(' ');
  return padded(`query D${n}($id: Int!) { album_by_pk(id: $id) { id ${fields} } }`, 1000);
};
const documents = (from, count) => Array.from({ length: count }, (_, i) => ({ id: `d${from + i}`, query: document(from + i) }));

/** Runs a task, and returns its time, the CPU time of the service, and the longest wait of a small request meanwhile, in ms. */
async function beside(pid, task) {
  const cpu = cpuOf(pid);
  let isGoing = true;
  let longest = 0;
  const small = (async () => {
    while (isGoing) {
      const began = performance.now();
      await (await request(`${base}/v1/graphql`, { method: 'POST', headers: HEADERS, body: '{"query":"{ __typename }"}' })).body.text();
      longest = Math.max(longest, performance.now() - began);
      await sleep(2);
    }
  })();
  const ms = Math.round(await timed(task));
  isGoing = false;
  await small;
  return { ms, cpu: cpuOf(pid) - cpu, longestWait: Math.round(longest) };
}

const SECRET = { 'x-svc-admin-secret': 'bench' };
const operate = (type, args) => post(`${base}/v1/metadata`, JSON.stringify({ type, args }), SECRET);
const push = (list) => operate('push_documents', { collection: 'web', scope: { global: false, roles }, documents: list });

/** Requests per second, and CPU of the service per request in microseconds. */
async function load(pid, send) {
  const until = performance.now() + 1000 * Number(options.seconds);
  const began = { cpu: cpuOf(pid), at: performance.now() };
  let count = 0;
  const worker = async () => {
    while (performance.now() < until) {
      await send(count);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  const seconds = (performance.now() - began.at) / 1000;
  return { perSecond: Math.round(count / seconds), cpuMicroseconds: Math.round((1000 * (cpuOf(pid) - began.cpu)) / count) };
}

async function inTurn(pid, sides) {
  const results = Object.fromEntries(Object.keys(sides).map((name) => [name, []]));
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [name, send] of Object.entries(sides)) results[name].push(await load(pid, send));
  return Object.fromEntries(
    Object.entries(results).map(([name, list]) => [
      name,
      {
        perSecond: median(list.map(({ perSecond }) => perSecond)),
        cpuMicroseconds: median(list.map(({ cpuMicroseconds }) => cpuMicroseconds)),
      },
    ]),
  );
}

/** Sends a request as the unauthorized role. */
async function send(path, { body, headers = {} }, expected = 200) {
  const answer = await request(base + path, { method: body === undefined ? 'GET' : 'POST', headers: { ...HEADERS, ...headers }, body });
  const text = await answer.body.text();
  if (answer.statusCode !== expected || text.includes('"errors"')) throw new Error(`${answer.statusCode} ${text}`);
  return answer;
}

await run(async () => {
  const server = await databaseServer(options['database-url']);
  const url = await makeDatabase(server, 'documents');
  await administer(url, [
    "create table album (id int primary key, name text); insert into album select n, 'album ' || n from generate_series(1, 1000) n",
  ]);
  const env = { SVC_GRAPHQL_ADMIN_SECRET: 'bench', SVC_GRAPHQL_UNAUTHORIZED_ROLE: roles[0], SVC_GRAPHQL_PG_CONNECTIONS: '10' };
  const service = await startService({ port, databaseUrl: url, env, file: [options.service] });
  const memory = () => Math.round(memoryOf(service.pid) / 1_048_576);
  await operate('pg_track_table', { table: 'album' });
  for (const role of roles)
    await operate('pg_create_select_permission', { table: 'album', role, permission: { columns: '*', filter: {} } });
  await sleep(1000);
  const count = Number(options.documents);
  const result = { memoryBefore: memory() };
  result.push = await beside(service.pid, () => push(documents(0, count)));
  result.pushOfTen = await beside(service.pid, () => push(documents(count, 10)));
  await sleep(3000);
  result.memoryAfterPush = memory();

  const short = 'query Album($id: Int!) { album_by_pk(id: $id) { id name } }';
  const long = padded('query Album($id: Int!) { album_by_pk(id: $id) { id name } }', 4096);
  const cached = 'query Cached @cached(ttl: 3600) { album(limit: 20) { id name } }';
  await push([short, long, cached].map((query, i) => ({ id: `bench${i}`, query })));
  const byText = (query) => (n) => send('/v1/graphql', { body: JSON.stringify({ query, variables: { id: 1 + (n % 1000) } }) });
  const byId = (query) => {
    const documentId = `sha256:${sha256(query)}`;
    return (n) => send('/v1/graphql', { body: JSON.stringify({ documentId, variables: { id: 1 + (n % 1000) } }) });
  };
  result.short = await inTurn(service.pid, { text: byText(short), id: byId(short) });
  result.long = await inTurn(service.pid, { text: byText(long), id: byId(long) });
  const path = `/v1/graphql?documentId=sha256:${sha256(cached)}`;
  const tag = (await send(path, {})).headers.etag;
  result.cached = await inTurn(service.pid, {
    whole: () => send(path, {}),
    notModified: () => send(path, { headers: { 'if-none-match': tag } }, 304),
  });
  console.log(JSON.stringify(result, null, 2));
});
