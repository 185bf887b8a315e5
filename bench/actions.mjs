// Measures a synchronous action whose handler answers at once against a bare proxy: an HTTP server that hands each body on to the
// same handler with undici and its answer back. Prints requests per second and CPU time per request, ours and the proxy's.
//
//   npm run build && node bench/actions.mjs                      on an embedded PostgreSQL made for the run
//   node bench/actions.mjs --seconds 5 --rounds 3
//   node bench/actions.mjs --database-url postgres://…/postgres  on a server where a database may be made
//
// Handler, proxy, service and load are processes of their own. Absolute numbers mean nothing across machines.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import pg from 'pg';
import { Agent, request } from 'undici';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    'database-url': { type: 'string' },
    role: { type: 'string' },
  },
});
const file = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const [SERVICE, PROXY, HANDLER] = [18_092, 18_093, 18_094];
const NAME = 'svc_bench_actions';
const HEADERS = { 'content-type': 'application/json' };
const ANSWER = JSON.stringify({ id: 7, name: 'Ann', score: 1.5, tags: ['a', 'b'] });
const BODY = JSON.stringify({
  query: 'mutation ($name: String!) { login(name: $name, times: 3) { id name score tags } }',
  variables: { name: 'Ann' },
});
const url = (port) => `http://127.0.0.1:${port}`;

function listen(port, answer) {
  const server = http.createServer((incoming, outgoing) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => answer(Buffer.concat(chunks), outgoing));
  });
  server.listen(port, '127.0.0.1');
}

/** The other roles of this file, each in its own process. */
const ROLES = {
  handler: () => listen(HANDLER, (_body, outgoing) => outgoing.writeHead(200, HEADERS).end(ANSWER)),
  proxy() {
    const dispatcher = new Agent();
    listen(PROXY, async (body, outgoing) => {
      const answer = await request(url(HANDLER), { method: 'POST', headers: HEADERS, body, dispatcher });
      outgoing.writeHead(answer.statusCode, HEADERS).end(Buffer.from(await answer.body.arrayBuffer()));
    });
  },
};

async function waitFor(address) {
  for (let i = 0; i < 400; i++) {
    try {
      await fetch(address);
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`${address} does not answer`);
}

/** User and system time of a process in ms. */
function cpu(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function measure({ address, pid }, seconds) {
  const before = cpu(pid);
  const load = {
    url: address,
    connections: Number(options.connections),
    duration: seconds,
    method: 'POST',
    headers: HEADERS,
    body: BODY,
    workers: 1,
  };
  const result = await autocannon(load);
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${address}: ${result.non2xx} answers and ${result.errors} connections failed`);
  return { rate: result.requests.average, cpu: (cpu(pid) - before) / result.requests.total };
}

/** The service warms itself up for a while. */
async function untilIdle(pid) {
  for (let before = cpu(pid); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = cpu(pid);
    if (now - before < 20) return;
    before = now;
  }
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const stops = [];

function start(args, env = {}) {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  stops.push(() => {
    child.kill('SIGTERM');
    return ended;
  });
  return child.pid;
}

async function administer(connectionString, statements) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

async function main() {
  let server = options['database-url'];
  if (!server) {
    const { startCluster } = await import('../dist/embedded/cluster.js');
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
    stops.push(() => fs.rmSync(folder, { recursive: true, force: true }));
    const cluster = await startCluster({ dataDirectory: folder, settings: {} });
    stops.push(() => cluster.stop());
    server = cluster.url();
  }
  const drop = `drop database if exists ${NAME} with (force)`;
  await administer(server, [drop, `create database ${NAME}`]);
  stops.push(() => administer(server, [drop]));
  const database = new URL(server);
  database.pathname = `/${NAME}`;

  start([file, '--role', 'handler']);
  await waitFor(url(HANDLER));
  const proxy = { address: url(PROXY), pid: start([file, '--role', 'proxy']) };
  const env = { SVC_GRAPHQL_DATABASE_URL: database.href, SVC_GRAPHQL_SERVER_PORT: String(SERVICE), SVC_GRAPHQL_SERVER_HOST: '127.0.0.1' };
  const service = { address: `${url(SERVICE)}/v1/graphql`, pid: start(['dist/cli/main.js', 'serve'], env) };
  for (const port of [PROXY, SERVICE]) await waitFor(url(port));
  const metadata = async (type, args) => {
    const response = await fetch(`${url(SERVICE)}/v1/metadata`, { method: 'POST', headers: HEADERS, body: JSON.stringify({ type, args }) });
    if (!response.ok) throw new Error(`${type}: ${await response.text()}`);
  };
  const field = (name, type) => ({ name, type });
  await metadata('set_custom_types', {
    objects: [
      { name: 'Login', fields: [field('id', 'Int!'), field('name', 'String!'), field('score', 'Float'), field('tags', '[String!]')] },
    ],
  });
  await metadata('create_action', {
    name: 'login',
    definition: { handler: url(HANDLER), output_type: 'Login!', arguments: [field('name', 'String!'), field('times', 'Int')] },
  });
  const answer = await (await fetch(service.address, { method: 'POST', headers: HEADERS, body: BODY })).text();
  if (answer !== `{"data":{"login":${ANSWER}}}`) throw new Error(`an unexpected answer: ${answer}`);

  await untilIdle(service.pid);
  const found = { service: [], proxy: [] };
  for (const each of [service, proxy]) await measure(each, 2);
  for (let round = 0; round < Number(options.rounds); round++) {
    found.service.push(await measure(service, Number(options.seconds)));
    found.proxy.push(await measure(proxy, Number(options.seconds)));
  }
  const of = (name, key) => median(found[name].map((each) => each[key]));
  console.log('| | svc | proxy | ratio |\n|---|--:|--:|--:|');
  console.log(
    `| requests a second | ${of('service', 'rate').toFixed(0)} | ${of('proxy', 'rate').toFixed(0)} | ${(of('service', 'rate') / of('proxy', 'rate')).toFixed(2)} |`,
  );
  console.log(
    `| ms of CPU a request | ${of('service', 'cpu').toFixed(3)} | ${of('proxy', 'cpu').toFixed(3)} | ${(of('proxy', 'cpu') / of('service', 'cpu')).toFixed(2)} |`,
  );
}

async function stop() {
  for (const each of stops.splice(0).reverse()) await each();
}

if (options.role !== undefined) ROLES[options.role]();
else {
  process.on('SIGINT', () => stop().then(() => process.exit(130)));
  main()
    .catch((error) => {
      console.error(error);
      process.exitCode = 1;
    })
    .finally(stop);
}
