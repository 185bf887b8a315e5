// Temporary cluster of Debian's PostgreSQL 15 with PostGIS, for features that the embedded PostgreSQL lacks: extensions and the locale
// en_US.UTF-8. As a script, lists missing requirements, and exits with 3 if there are any.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

/** Exit code of scripts whose requirements are not installed. */
export const NOT_INSTALLED = 3;
const PROGRAMS = '/usr/lib/postgresql/15/bin';
const POSTGIS = '/usr/share/postgresql/15/extension/postgis.control';

/** Names of missing requirements. */
export function whatIsMissing() {
  const list = [];
  if (!existsSync(join(PROGRAMS, 'initdb'))) list.push('PostgreSQL 15');
  if (!existsSync(POSTGIS)) list.push('PostGIS for PostgreSQL 15');
  if (spawnSync('psql', ['--version']).status !== 0) list.push('psql');
  const locales = spawnSync('locale', ['-a'], { encoding: 'utf8' }).stdout ?? '';
  if (!/^en_US\.utf-?8$/im.test(locales)) list.push('locale en_US.UTF-8');
  return list;
}

/**
 * Runs a server in the temporary folder while `use` runs with the URL of its database `test`.
 * @param whenInterrupted called before the server stops because of a signal
 * @returns the result of `use`, or 1 if it or the server fails
 */
export function withCluster(use, whenInterrupted) {
  return withServers([{ locale: 'en_US.UTF-8' }], ([url]) => use(url), { whenInterrupted });
}

/**
 * Runs servers in the temporary folder while `use` runs with the URLs of their databases `test`. If started by root, they run as the user
 * postgres.
 * @param servers locale and further `settings` (`name=value`) of each
 * @param how `programs`: folder of `initdb` and `postgres`. `whenInterrupted`: called before the servers stop because of a signal.
 * @returns the result of `use`, or 1 if it or a server fails
 */
export async function withServers(servers, use, { programs = PROGRAMS, whenInterrupted = () => undefined } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-debian-postgres-'));
  const started = [];
  const stop = async () => {
    await Promise.all(started.map(stopped));
    rmSync(folder, { recursive: true, force: true });
  };
  const interrupted = async () => {
    whenInterrupted();
    await stop();
    process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupted);
  try {
    chmodSync(folder, 0o755);
    const urls = [];
    for (const [number, { locale, settings = [] }] of servers.entries()) {
      const port = await freePort();
      const log = join(folder, `${number}.log`);
      const server = startServer({
        programs,
        dataFolder: join(folder, `data-${number}`),
        log,
        locale,
        settings: [`port=${port}`, ...settings],
      });
      started.push(server);
      const url = `postgres://postgres@127.0.0.1:${port}`;
      for (let attempt = 0; spawnSync('psql', [`${url}/postgres`, '-qc', 'create database test']).status !== 0; attempt++) {
        if (attempt === 600 || server.exitCode !== null) throw new Error(readFileSync(log, 'utf8'));
        await sleep(100);
      }
      urls.push(`${url}/test`);
    }
    return await use(urls);
  } catch (error) {
    console.error(`PostgreSQL 15: ${error.message}`);
    return 1;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupted);
    await stop();
  }
}

function startServer({ programs, dataFolder, log, locale, settings }) {
  const account = process.getuid() === 0 ? postgresAccount() : {};
  const options = { ...account, cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  mkdirSync(dataFolder, { mode: 0o700 });
  if (account.uid !== undefined) chownSync(dataFolder, account.uid, account.gid);
  const initdb = ['-D', dataFolder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', `--locale=${locale}`, '-N'];
  const made = spawnSync(join(programs, 'initdb'), initdb, { ...options, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
  const output = openSync(log, 'w');
  const all = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=300', ...settings];
  const server = spawn(join(programs, 'postgres'), ['-D', dataFolder, ...all.flatMap((setting) => ['-c', setting])], {
    ...options,
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  return server;
}

async function stopped(server) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGQUIT');
  await ended;
}

function postgresAccount() {
  const [, , uid, gid] = (/^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0] ?? '').split(':');
  if (uid === undefined) throw new Error('there is no user postgres');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Below the ephemeral ports of the system, so that no connection takes the port before the server listens on it. */
const [LOWEST, HIGHEST] = [20_000, 32_000];

/** Finds a free port of the loopback address. */
export function freePort(attempts = 100) {
  return new Promise((resolve, reject) => {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const probe = createServer();
    probe.once('error', (error) => (attempts > 1 ? resolve(freePort(attempts - 1)) : reject(error)));
    probe.listen({ host: '127.0.0.1', port, exclusive: true }, () => probe.close(() => resolve(port)));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const missing = whatIsMissing();
  if (missing.length > 0) {
    console.error(`missing: ${missing.join(', ')}`);
    process.exit(NOT_INSTALLED);
  }
}
