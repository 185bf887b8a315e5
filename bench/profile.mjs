// Where the service's CPU time of one request goes: microseconds by stage, from CPU profiles under load, beside the CPU time without a profiler.
//
//   node bench/profile.mjs                               a row by its key, and an insert
//   node bench/profile.mjs --queries update --seconds 5 --functions 20
//
// Time in Node.js itself counts for the stage that called it. The profiler costs time too: compare the stages with each other.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { load, requestsOf } from './load.mjs';
import { administer, cpuOf, databaseServer, makeDatabase, median, root, run, startService, temporaryFolder } from './support.mjs';

const { values: options } = parseArgs({
  options: {
    queries: { type: 'string', default: 'by_pk,insert' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '5' },
    functions: { type: 'string', default: '0' },
    load: { type: 'string', default: 'autocannon' },
    'database-url': { type: 'string' },
  },
});
const PORT = 18_490;
const workloads = JSON.parse(fs.readFileSync(path.join(root, 'bench/workloads.json'), 'utf8'));

/** Stages with the modules whose time they are; the first that matches counts. */
const STAGES = [
  ['log', /observability\/|sonic-boom|pino/],
  ['metrics and records', /http-meter|with-meter|operation-meter|recent-operations|operation-counts|app\/metrics/],
  ['body in', /server\/read-body/],
  ['JSON', /server\/body|model\/json|util\/json|pipeline\/request\.js/],
  ['authentication', /auth\/|server\/identify/],
  ['response out', /server\/send-reply|server\/pending-responses|server\/compression/],
  ['routing and checks', /server\//],
  ['operation cache', /pipeline\/(prepare|operation-cache)|util\/bounded-cache|state\/|schema\/role-schemas/],
  ['variables', /graphql-engine\/|schema\//],
  ['limits and steps', /pipeline\//],
  ['bind', /plan\/|databases\/postgresql\/coerce/],
  ['run and splice', /execute\/|util\/bytes/],
  ['driver: write', /driver\/(output-buffer|prepared-statements)|driver\/session\.js (send|#write|#flush|#flushNow)$/],
  ['driver: read', /driver\/(session|shared-buffer-socket|exchange)/],
  ['driver: queue', /driver\/|databases\//],
  ['promises', /^ runMicrotasks$|task_queues/],
  ['garbage collection', /^ \(garbage collector\)$/],
  ['HTTP in and out (Node.js)', /node:_http|node:net|node:internal\/stream|node:events|node:stream|node:internal\/timers|node:timers/],
];
const REST = 'other (Node.js)';
/** Idle time, and the profiler's own. */
const IDLE = new Set(['(idle)', '(root)', 'dispatch']);

const nameOf = ({ url, functionName }) => `${url.replace(/.*\/(dist|node_modules)\//, '').replace(/\?.*/, '')} ${functionName}`;

/** @returns microseconds by stage and by function */
function divide({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const stageOf = new Map();
  const find = (id) => {
    const own = STAGES.find(([, modules]) => modules.test(nameOf(byId.get(id).callFrame)));
    // Node's own functions count for the service's function that called them, if there is one.
    const isService = /\/(dist|node_modules)\//.test(byId.get(id).callFrame.url);
    if (own !== undefined && (isService || !parents.has(id))) return own[0];
    const outer = parents.has(id) ? stage(parents.get(id)) : REST;
    return outer !== REST ? outer : (own?.[0] ?? REST);
  };
  function stage(id) {
    if (!stageOf.has(id)) stageOf.set(id, find(id));
    return stageOf.get(id);
  }
  const [stages, functions] = [new Map(), new Map()];
  const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time);
  for (const [i, id] of samples.entries()) {
    const { callFrame } = byId.get(id);
    if (IDLE.has(callFrame.functionName)) continue;
    add(stages, stage(id), timeDeltas[i]);
    add(functions, nameOf(callFrame), timeDeltas[i]);
  }
  return { stages, functions };
}

async function loadService(service, workload, seconds) {
  const before = cpuOf(service.pid);
  const { connections } = workload;
  const { count, rate } = await load(`http://127.0.0.1:${PORT}/v1/graphql`, requestsOf(workload), {
    connections,
    seconds,
    generator: options.load,
  });
  return { total: count, rate, cpu: ((cpuOf(service.pid) - before) * 1000) / count };
}

async function until(file) {
  for (let i = 0; i < 1000; i++) {
    if (fs.existsSync(file)) return;
    await sleep(20);
  }
  throw new Error(`${file} was not written`);
}

async function profiled(service, folder, task) {
  const file = path.join(folder, 'profile.json');
  process.kill(service.pid, 'SIGUSR2');
  await until(`${file}.started`);
  const result = await task();
  process.kill(service.pid, 'SIGUSR2');
  await until(file);
  const profile = JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const name of [file, `${file}.started`]) fs.rmSync(name);
  return { ...result, profile };
}

await run(async () => {
  const folder = temporaryFolder().path;
  const sample = await import('../dist/embedded-postgres/sample-data.js');
  let databaseUrl = options['database-url'];
  if (databaseUrl === undefined) {
    databaseUrl = await makeDatabase(await databaseServer(), 'bench_profile');
    await sample.loadSampleData(databaseUrl);
  }
  const service = await startService({
    port: PORT,
    databaseUrl,
    env: { PROFILE_FILE: path.join(folder, 'profile.json') },
    file: ['--import', new URL('./profile-process.mjs', import.meta.url).href, 'dist/cli/main.js'],
  });
  await sample.trackSampleData(`http://127.0.0.1:${PORT}`, null);
  console.log(`load average ${os.loadavg()[0].toFixed(1)}, Node ${process.version}, ${os.cpus().length} processors`);
  for (const name of options.queries.split(',')) {
    const workload = workloads[name];
    if (workload === undefined) throw new Error(`no workload ${name}`);
    await loadService(service, workload, 2);
    const plain = [];
    for (let round = 0; round < Number(options.rounds); round++) plain.push(await loadService(service, workload, Number(options.seconds)));
    const { total, cpu, profile } = await profiled(service, folder, () => loadService(service, workload, Number(options.seconds)));
    const { stages, functions } = divide(profile);
    const own = median(plain.map((each) => each.cpu));
    const sum = [...stages.values()].reduce((all, time) => all + time, 0) / total;
    console.log(`\n${name}: ${own.toFixed(1)} us of CPU per request, ${median(plain.map(({ rate }) => rate)).toFixed(0)} requests/s;`);
    console.log(`with the profiler ${cpu.toFixed(1)} us. The stages are scaled from ${sum.toFixed(1)} us in its samples.\n`);
    console.log('| stage | us | share |\n|---|--:|--:|');
    const order = (map) => [...map].toSorted(([, a], [, b]) => b - a);
    for (const [stage, time] of order(stages)) {
      const share = time / total / sum;
      console.log(`| ${stage} | ${(share * own).toFixed(1)} | ${(share * 100).toFixed(0)} % |`);
    }
    if (Number(options.functions) > 0) {
      console.log('\n| function | us |\n|---|--:|');
      for (const [of, time] of order(functions).slice(0, Number(options.functions)))
        console.log(`| ${of.trim()} | ${((time / total / sum) * own).toFixed(2)} |`);
    }
    if (name === 'insert') await administer(databaseUrl, ['delete from invoice_line where invoice_line_id > 2240']);
  }
});
