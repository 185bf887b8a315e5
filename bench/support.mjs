// Shared code of the benches: a database, the service, requests to it, CPU and memory of processes, and clean-up.
import { spawn } from 'node:child_process';
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

/** Clean-up functions, run in reverse order at the end. */
export function atEnd(stop) {
  stops.push(stop);
}

/** Runs a bench, and cleans up even if it fails or is interrupted. */
export async function run(main) {
  const end = async () => {
    for (const stop of stops.splice(0).reverse()) {
      try {
        await stop();
      } catch (error) {
        console.error(error);
      }
    }
  };
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])
    process.on(signal, () => end().then(() => process.exit(code)));
  try {
    await main();
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    await end();
  }
}

/** URL of a PostgreSQL: the given one, or one that is created for the run. */
export async function databaseServer(given, settings = {}) {
  if (given) return given;
  const { startCluster } = await import('../dist/embedded-postgres/cluster.js');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-bench-'));
  // It runs as another user if this process is root.
  fs.chmodSync(folder, 0o755);
  atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ dataDirectory: path.join(folder, 'postgres'), settings });
  atEnd(() => cluster.stop());
  return cluster.url();
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

/** Starts a Node process that is killed at the end. */
export function startProcess(args, env = {}) {
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  atEnd(stop);
  return { pid: child.pid, stop };
}

/** Starts `svc serve` and waits until it responds. @param file script to run, after `node` options */
export async function startService({ port, databaseUrl, env = {}, file = ['dist/cli/main.js'] }) {
  const service = startProcess([...file, 'serve'], {
    SVC_GRAPHQL_DATABASE_URL: databaseUrl,
    SVC_GRAPHQL_SERVER_PORT: String(port),
    SVC_GRAPHQL_SERVER_HOST: '127.0.0.1',
    ...env,
  });
  await waitFor(`http://127.0.0.1:${port}/healthz`);
  return service;
}

/** Resolves after a successful response. @throws after 20 s */
export async function waitFor(url) {
  for (let i = 0; i < 4000; i++) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // Not listening yet.
    }
    await sleep(25);
  }
  throw new Error(`${url} does not respond`);
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
