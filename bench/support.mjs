// Shared code of the benches: a database, the service, requests to it, CPU and memory of processes, and clean-up.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const HEADERS = { 'content-type': 'application/json' };

export const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
export const median = (list) => quantile(list, 0.5);

/** Time of an asynchronous function, in ms. */
export async function timed(task) {
  const started = performance.now();
  await task();
  return performance.now() - started;
}

const stops = [];
let ending;

/** Clean-up functions, run in reverse order at the end. */
export function atEnd(stop) {
  stops.push(stop);
}

async function cleanUp() {
  // A start that an interruption overtook adds its clean-up meanwhile.
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop();
    } catch (error) {
      console.error(error);
    }
  }
}

/** Runs a bench, and cleans up even if it fails or is interrupted. */
export async function run(main) {
  const end = () => {
    ending ??= cleanUp();
    return ending;
  };
  for (const [signal, code] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])
    process.on(signal, () => end().then(() => process.exit(code)));
  try {
    await main();
  } catch (error) {
    // After an interruption, the rest fails because its servers are gone.
    if (ending === undefined) console.error(error);
    process.exitCode = 1;
  } finally {
    await end();
  }
}

/** Creates a folder that is removed at the end, or before by `remove`. */
export function temporaryFolder() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  atEnd(remove);
  return { path: folder, remove };
}

/** URL of a PostgreSQL: the given one, or one that is created for the run. */
export async function databaseServer(given, settings = {}) {
  if (given) return given;
  const { startCluster } = await import('../dist/embedded-postgres/cluster.js');
  const folder = temporaryFolder().path;
  // It runs as another user if this process is root.
  fs.chmodSync(folder, 0o755);
  const starting = startCluster({ dataDirectory: path.join(folder, 'postgres'), settings });
  // An interruption during the start waits for it: only then the cluster can be stopped.
  atEnd(() =>
    starting.then(
      (cluster) => cluster.stop(),
      () => undefined,
    ),
  );
  return (await starting).url();
}

/** Creates a database that is dropped at the end. @returns its URL */
export async function makeDatabase(server, name) {
  const drop = `drop database if exists ${name} with (force)`;
  await administer(server, [drop, `create database ${name}`]);
  atEnd(() => administer(server, [drop]));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs statements one after another. */
export async function administer(connectionString, statements) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Starts a Node process that is killed at the end. @param node program that runs it */
export function startProcess(args, env = {}, node = process.execPath) {
  if (ending !== undefined) throw new Error('the bench is ending');
  const child = spawn(node, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', (error) => resolve(error.message));
  });
  const stop = () => {
    child.kill('SIGTERM');
    // It ends although the process ignores the signal.
    const forced = setTimeout(() => child.kill('SIGKILL'), 20_000);
    return ended.finally(() => clearTimeout(forced));
  };
  atEnd(stop);
  return { pid: child.pid, stop, ended };
}

/** Starts `svc serve` and waits until it responds. @param file script to run, after `node` options */
export async function startService({ port, databaseUrl, env = {}, file = ['dist/cli/main.js'], node }) {
  const options = {
    SVC_GRAPHQL_DATABASE_URL: databaseUrl,
    SVC_GRAPHQL_SERVER_PORT: String(port),
    SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
    ...env,
  };
  const service = startProcess([...file, 'serve'], options, node);
  await waitFor(`http://127.0.0.1:${port}/healthz`, service);
  return service;
}

/**
 * Resolves after a response that is not a server error.
 * @param server process that gives it
 * @throws after 100 s, and when the process has ended
 */
export async function waitFor(url, server) {
  const end = performance.now() + 100_000;
  let code;
  server?.ended.then((status) => {
    code = status ?? 'a signal';
  });
  while (performance.now() < end && code === undefined) {
    try {
      if ((await fetch(url, { signal: AbortSignal.timeout(10_000) })).status < 500) return;
    } catch {
      // Not listening yet.
    }
    await sleep(25);
  }
  throw new Error(code === undefined ? `${url} does not respond` : `the server of ${url} ended with ${code}`);
}

/** Runs a program, which is killed at the end. @returns its standard output @throws if it fails, or after the timeout in ms */
export function outputOf(program, args, { timeout = 60_000 } = {}) {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout, maxBuffer: 16 * 1024 * 1024 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    atEnd(() => {
      child.kill();
    });
  });
}

/** @returns the text of the response @throws for a failed request or a GraphQL error */
export async function post(url, body, headers = {}) {
  const response = await fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
  const text = await response.text();
  if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${url}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Runs an operation of the metadata API. @returns its response */
export async function operate(port, type, args) {
  return JSON.parse(await post(`http://127.0.0.1:${port}/v1/metadata`, JSON.stringify({ type, args })));
}

/** CPU time of a process, in ms; NaN if the system does not report it. */
export function cpuOf(pid) {
  try {
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}

/** Like `cpuOf`, with the precision of the scheduler's nanoseconds if the kernel reports them. */
export function preciseCpuOf(pid) {
  const folder = `/proc/${pid}/task`;
  const threads = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const total = threads.reduce((sum, thread) => {
    try {
      return sum + Number(fs.readFileSync(`${folder}/${thread}/schedstat`, 'latin1').split(' ')[0]);
    } catch {
      // The thread has ended, or the kernel reports nothing.
      return sum;
    }
  }, 0);
  return total > 0 ? total / 1e6 : cpuOf(pid);
}

/** Memory of a process, in bytes. @param what `VmRSS` for the current, `VmHWM` for the peak resident memory */
export function memoryOf(pid, what = 'VmRSS') {
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) * 1024;
}

/**
 * Measures two sides in turn after a second of warming each, and prints them as a row of a table with the ratios of throughput and CPU.
 * @param sides labelled svc and floor
 * @param measure (side, seconds) -> requests per second, and CPU time of 1,000 requests in ms: of the side, and of its databases
 * @param options of the command line, as texts
 */
export async function compareInTurn(name, sides, measure, { rounds, seconds }) {
  const figures = { svc: [], floor: [] };
  for (const side of sides) await measure(side, 1);
  for (let round = 0; round < Number(rounds); round++) {
    for (const side of sides) figures[side.label].push(await measure(side, Number(seconds)));
  }
  const medians = (list) => {
    const of = (key) => median(list.map((each) => each[key]));
    return { rate: of('rate'), own: of('own'), databases: of('databases') };
  };
  const [svc, hands] = [medians(figures.svc), medians(figures.floor)];
  const cpu = ({ own, databases }) => `${own.toFixed(0)} + ${databases.toFixed(0)}`;
  const whole = ({ own, databases }) => own + databases;
  const rates = `${svc.rate.toFixed(0)} | ${hands.rate.toFixed(0)} | ${(svc.rate / hands.rate).toFixed(2)}`;
  console.log(`| ${name} | ${rates} | ${cpu(svc)} | ${cpu(hands)} | ${(whole(hands) / whole(svc)).toFixed(2)} |`);
}
