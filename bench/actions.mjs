// Measures a synchronous action with a handler that responds at once against a bare proxy: an HTTP server that forwards each body to the same
// handler with undici. Prints requests per second and CPU time per request of both.
//
//   npm run build && node bench/actions.mjs                      on an embedded PostgreSQL created for the run
//   node bench/actions.mjs --seconds 5 --rounds 3
//   node bench/actions.mjs --database-url postgres://…/postgres  on a server where a database may be created
//
// Handler, proxy, service and load are separate processes. Absolute numbers cannot be compared across machines.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { Agent, request } from 'undici';
import {
  cpuOf,
  databaseServer,
  HEADERS,
  makeDatabase,
  median,
  operate,
  post,
  run,
  startProcess,
  startService,
  waitFor,
} from './support.mjs';

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
const [SERVICE, PROXY, HANDLER] = [18_092, 18_093, 18_094];
const NAME = 'svc_bench_actions';
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

async function measure({ address, pid }, seconds) {
  const before = cpuOf(pid);
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
  return { rate: result.requests.average, cpu: (cpuOf(pid) - before) / result.requests.total };
}

/** Waits for the warm-up of the service. */
async function untilIdle(pid) {
  for (let before = cpuOf(pid); ; ) {
    await sleep(500);
    const now = cpuOf(pid);
    if (now - before < 20) return;
    before = now;
  }
}

async function main() {
  const database = await makeDatabase(await databaseServer(options['database-url']), NAME);

  startProcess([file, '--role', 'handler']);
  await waitFor(url(HANDLER));
  const proxy = { address: url(PROXY), pid: startProcess([file, '--role', 'proxy']).pid };
  await waitFor(url(PROXY));
  const { pid } = await startService({ port: SERVICE, databaseUrl: database });
  const service = { address: `${url(SERVICE)}/v1/graphql`, pid };
  const field = (name, type) => ({ name, type });
  await operate(SERVICE, 'set_custom_types', {
    objects: [
      { name: 'Login', fields: [field('id', 'Int!'), field('name', 'String!'), field('score', 'Float'), field('tags', '[String!]')] },
    ],
  });
  await operate(SERVICE, 'create_action', {
    name: 'login',
    definition: { handler: url(HANDLER), output_type: 'Login!', arguments: [field('name', 'String!'), field('times', 'Int')] },
  });
  const answer = await post(service.address, BODY);
  if (answer !== `{"data":{"login":${ANSWER}}}`) throw new Error(`unexpected response: ${answer}`);

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

if (options.role !== undefined) ROLES[options.role]();
else await run(main);
