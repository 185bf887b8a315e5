// `npm run conformance`: plays the shared conformance cases against this build, on a temporary PostgreSQL 15 with
// PostGIS and the locale en_US.UTF-8. Further arguments go to the runner (`--only`, `--verbose`, ...); with
// `--database-url` no cluster is made. Exit code 3: something that is needed is not installed.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from './build.mjs';
import { ensurePackages, root } from './ensure-packages.mjs';

const NOT_INSTALLED = 3;
const POSTGRES_15 = '/usr/lib/postgresql/15/bin';
const POSTGIS = '/usr/share/postgresql/15/extension/postgis.control';
const data = join(root, '..', 'shared', 'conformance');
const floor = join(root, 'test', 'conformance-floor.txt');
const areas = join(root, 'test', 'conformance-areas.txt');
/** Holds the process id of the server under test, which the runner starts in a process group of its own. */
const serverPid = join(tmpdir(), `svc-conformance-${process.pid}.pid`);
const given = process.argv.slice(2);

ensurePackages();
const missing = whatIsMissing();
if (missing.length > 0) {
  console.error(`conformance: NOT RUN, missing: ${missing.join(', ')}`);
  process.exit(NOT_INSTALLED);
}
if (given.includes('--check-requirements')) process.exit(0);
build();
process.exit(has('--database-url') ? await play() : await withCluster((url) => play('--database-url', url)));

function has(flag) {
  return given.some((argument) => argument === flag || argument.startsWith(`${flag}=`));
}

function whatIsMissing() {
  const list = [];
  if (!existsSync(join(data, 'run.mjs'))) list.push('../shared/conformance');
  if (has('--database-url')) return list;
  if (!existsSync(join(POSTGRES_15, 'initdb'))) list.push('PostgreSQL 15');
  if (!existsSync(POSTGIS)) list.push('PostGIS for PostgreSQL 15');
  if (spawnSync('psql', ['--version']).status !== 0) list.push('psql');
  const locales = spawnSync('locale', ['-a'], { encoding: 'utf8' }).stdout ?? '';
  if (!/^en_US\.utf-?8$/im.test(locales)) list.push('locale en_US.UTF-8');
  return list;
}

/** Runs the cases; a case of the floor that was not played counts like one that failed, unless cases were selected. */
async function play(...more) {
  const selected = ['--only', '--area', '--list', '--write-floor'].some(has);
  // The runner compares its own path with the one it was started by, so links must be followed first.
  const args = [
    realpathSync(join(data, 'run.mjs')),
    '--spawn',
    `echo $$ > '${serverPid}'; exec node dist/cli/main.js serve`,
    '--port',
    String(await freePort()),
    ...more,
  ];
  if (existsSync(floor) && !selected) args.push('--floor', floor);
  if (existsSync(areas) && !has('--only') && !has('--area')) args.push('--area', lines(areas).join(','));
  const child = spawn(process.execPath, [...args, ...given], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    output += chunk;
  });
  const code = await new Promise((resolve) => child.once('close', (status) => resolve(status ?? 1)));
  stopServer();
  const notRun = Number(/^floor: .* (\d+) not run$/m.exec(output)?.[1] ?? 0);
  if (notRun > 0) console.error(`conformance: ${notRun} cases of the floor were not run`);
  if (code === 0 && !has('--list') && !/^\d+ passed, \d+ failed/m.test(output)) {
    console.error('conformance: the runner ended without a result');
    return 1;
  }
  return notRun > 0 ? 1 : code;
}

/** A runner that was interrupted leaves its server behind. */
function stopServer() {
  if (!existsSync(serverPid)) return;
  try {
    process.kill(Number(readFileSync(serverPid, 'utf8')), 'SIGTERM');
  } catch {
    // the runner has stopped it
  }
  rmSync(serverPid, { force: true });
}

function lines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** A cluster in the temporary folder for the time of `use`; run by root it belongs to the user postgres. */
async function withCluster(use) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-conformance-'));
  const account = process.getuid() === 0 ? postgresAccount() : {};
  const options = { ...account, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const dataFolder = join(folder, 'data');
  chmodSync(folder, 0o755);
  mkdirSync(dataFolder, { mode: 0o700 });
  if (account.uid !== undefined) chownSync(dataFolder, account.uid, account.gid);
  let server;
  const stop = async () => {
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGQUIT');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = async () => {
    stopServer();
    await stop();
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupted);
  try {
    const initdb = ['-D', dataFolder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=en_US.UTF-8', '-N'];
    const made = spawnSync(join(POSTGRES_15, 'initdb'), initdb, { ...options, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
    const port = await freePort();
    const log = openSync(join(folder, 'postgres.log'), 'w');
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=300'];
    server = spawn(join(POSTGRES_15, 'postgres'), ['-D', dataFolder, ...settings.flatMap((s) => ['-c', s])], {
      ...options,
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    const url = `postgres://postgres@127.0.0.1:${port}`;
    for (let attempt = 0; spawnSync('psql', [`${url}/postgres`, '-qc', 'create database conformance']).status !== 0; attempt++) {
      if (attempt === 100 || server.exitCode !== null) throw new Error(readFileSync(join(folder, 'postgres.log'), 'utf8'));
      await sleep(100);
    }
    return await use(`${url}/conformance`);
  } catch (error) {
    console.error(`conformance: ${error.message}`);
    return 1;
  } finally {
    await stop();
  }
}

function postgresAccount() {
  const [, , uid, gid] = (/^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0] ?? '').split(':');
  if (uid === undefined) throw new Error('there is no user postgres');
  return { uid: Number(uid), gid: Number(gid) };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
