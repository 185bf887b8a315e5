/** A supervisor sees npm only: a signal to it must stop the service and its database. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sample } from './support/deep.ts';
import { freePort } from './support/free-port.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

let folder: string;
let child: ChildProcess | undefined;
let output: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-npm-'));
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  if (child?.exitCode === null && child.kill('SIGTERM')) await sleep(3000);
  // All processes that npm started in its process group.
  try {
    if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // no process is left
  }
  const left = databasePid();
  if (left !== undefined) process.kill(left, 'SIGINT');
  rmSync(folder, { recursive: true, force: true });
});

const pidFile = (): string => join(folder, 'postgres', 'data', 'postmaster.pid');
const databasePid = (): number | undefined => (existsSync(pidFile()) ? Number(readFileSync(pidFile(), 'utf8').split('\n')[0]) : undefined);

async function isAnswering(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`)).ok;
  } catch {
    return false;
  }
}

/** Starts npm as `child`, in a process group of its own, and collects what it prints as `output`. */
function run(args: readonly string[]): void {
  const { PATH, HOME } = process.env;
  child = spawn('npm', [...args, '--data-dir', folder, '--sample-data=false'], {
    cwd: root,
    env: { PATH, HOME },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
}

const SCRIPTS: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['npm start', ['start']],
  ['npm run dev', ['run', 'dev']],
];

it.each(sample(SCRIPTS, 1))('%s stops the service and its database at SIGTERM', async (_name, script) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  run([...script, '--', '--server-port', String(port)]);
  let ended = false;
  const end = new Promise<void>((resolve) => child?.once('exit', () => resolve()));
  void end.then(() => (ended = true));
  while (!(await isAnswering(url))) {
    if (ended) expect.fail(output);
    await sleep(50);
  }
  const database = databasePid();
  expect(database).toBeGreaterThan(0);

  child?.kill('SIGTERM');
  await end;
  // A caller that waits for npm may start a successor now. PostgreSQL removes the file when all of its processes have ended.
  expect(databasePid(), output).toBeUndefined();
  expect(await isAnswering(url)).toBe(false);
});

it('npm start names its port if the usual one is in use', async () => {
  const other = createServer();
  // If another process has it already, that is in the way just as well.
  await new Promise<void>((resolve) => other.once('error', () => resolve()).listen(8080, '127.0.0.1', resolve));
  try {
    run(['start', '--']);
    await expect.poll(() => output, { timeout: 120_000 }).toContain('Ctrl-C stops it.');
    const port = /listens on (\d+)/.exec(output)?.[1];
    expect(output).toContain(`Port 8080 is in use by another process, so the service listens on ${port}.`);
    expect(await isAnswering(`http://127.0.0.1:${port}`)).toBe(true);
  } finally {
    await new Promise((resolve) => other.close(resolve));
  }
});
