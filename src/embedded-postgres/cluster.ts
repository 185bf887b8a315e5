import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, findBinaries, platformPackage } from './binaries.ts';
import { chooseFreePort } from './free-port.ts';
import { DATABASE_ENVIRONMENT, initialise, startFailure, SUPERUSER } from './initialise.ts';
import { takeOwnership } from './owner-lock.ts';
import { choosePlace, type Place } from './place.ts';
import { readPostmasterFile, stopOrphan, stopPostmaster } from './postmaster.ts';

/**
 * The embedded PostgreSQL: a real server that this process starts and stops. It listens only on the loopback address, on a port of its own,
 * behind a random password. It runs in its own process group, so that Ctrl-C reaches the service first and the database stops last.
 *
 * The folder contains `data/` (the database's files), `password`, `port`, `postgres.log` and `owner.lock`.
 */
export interface Cluster {
  /** Actual folder of the files; another one than requested if the database's user cannot reach that. */
  readonly folder: string;
  /** This start created the cluster. */
  readonly created: boolean;
  readonly port: number;
  /** Process id of the database; it changes when the database has crashed and was restarted. */
  readonly pid: number;
  /** Returns a superuser URL, by default of the database `postgres`. */
  url(database?: string): string;
  connectionConfig(database?: string): ConnectionConfig;
  /** Stops the database and waits for it; further calls wait too. */
  stop(): Promise<void>;
}

export interface ConnectionConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

export interface ClusterOptions {
  /** Folder of the cluster; created if missing. */
  readonly dataDirectory: string;
  /** Called with notes for the user: another folder was chosen, an orphan was stopped, the database crashed. */
  readonly log?: (message: string) => void;
  /** Server settings in addition to ours. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Users to run as if this process is root, the preferred one first. */
  readonly accountNames?: readonly string[];
}

const HOST = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const MAX_START_ATTEMPTS = 5;
/** Pauses before a crashed database is restarted; each is twice the previous one. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;

/** Another process has taken the port between its choice and the start of the server. */
class PortTakenError extends Error {}

/**
 * Starts the cluster in a folder, and creates it first if there is none.
 * @throws InUseError if another process runs it, otherwise Error with a message for the user
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const log = options.log ?? (() => undefined);
  const requested = resolve(options.dataDirectory);
  // Without binaries, no other check matters.
  platformPackage();
  const place = choosePlace(requested, options.accountNames);
  if (place.folder !== requested) log(`the user of the embedded PostgreSQL cannot enter ${requested}; its files are in ${place.folder}`);
  const release = takeOwnership(place.folder, join(place.folder, 'owner.lock'));
  try {
    const orphan = await stopOrphan(place.dataFolder);
    if (orphan !== null) log(`stopped the embedded PostgreSQL, process ${orphan}, that a killed service had left behind`);
    const binaries = findBinaries(place.account);
    const password = readPassword(place);
    const created = await initialise(place, binaries, password);
    const settings = options.settings ?? {};
    const { child, port } = await launch(place, binaries, settings);
    const startAgain = async (): Promise<ChildProcess> => {
      await stopOrphan(place.dataFolder);
      return start(place, binaries, settings, port);
    };
    return watch({ place, child, port, password, created, startAgain, release, log });
  } catch (error) {
    release();
    throw error;
  }
}

function readPassword(place: Place): string {
  const path = join(place.folder, 'password');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  if (existsSync(join(place.dataFolder, 'PG_VERSION'))) throw new Error(`${path}, the password of the embedded PostgreSQL, is missing`);
  const password = randomBytes(24).toString('hex');
  writeFileSync(path, `${password}\n`, { mode: 0o600 });
  return password;
}

/** Starts the server and waits until it is ready; uses another port if the chosen one was taken meanwhile. */
async function launch(
  place: Place,
  binaries: Binaries,
  settings: Readonly<Record<string, string>>,
): Promise<{ child: ChildProcess; port: number }> {
  const portFile = join(place.folder, 'port');
  for (let attempt = 1; ; attempt++) {
    const port = await chooseFreePort(HOST, existsSync(portFile) && attempt === 1 ? Number(readFileSync(portFile, 'utf8')) : 0);
    try {
      const child = await start(place, binaries, settings, port);
      writeFileSync(portFile, `${port}\n`, { mode: 0o600 });
      return { child, port };
    } catch (error) {
      if (!(error instanceof PortTakenError) || attempt === MAX_START_ATTEMPTS) throw error;
    }
  }
}

async function start(place: Place, binaries: Binaries, settings: Readonly<Record<string, string>>, port: number): Promise<ChildProcess> {
  const child = spawnServer(place, binaries, { ...settings, listen_addresses: HOST, port: String(port), unix_socket_directories: '' });
  await untilReady(child, place, binaries);
  return child;
}

function logPath(place: Place): string {
  return join(place.folder, 'postgres.log');
}

function spawnServer(place: Place, binaries: Binaries, settings: Readonly<Record<string, string>>): ChildProcess {
  if (existsSync(logPath(place))) renameSync(logPath(place), `${logPath(place)}.1`);
  const logFile = openSync(logPath(place), 'w', 0o600);
  try {
    const child = spawn(binaries.postgres, ['-D', place.dataFolder, ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`])], {
      ...(place.account ?? {}),
      cwd: '/',
      env: DATABASE_ENVIRONMENT,
      detached: true,
      stdio: ['ignore', logFile, logFile],
    });
    child.unref();
    return child;
  } finally {
    closeSync(logFile);
  }
}

async function untilReady(child: ChildProcess, place: Place, binaries: Binaries): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = startFailure(binaries.postgres, error);
  });
  for (const until = Date.now() + START_TIMEOUT_MS; Date.now() < until; await sleep(3)) {
    if (failure !== undefined) throw failure;
    if (child.exitCode !== null || child.signalCode !== null) {
      const output = readFileSync(logPath(place), 'utf8').trim();
      const message = `the embedded PostgreSQL did not start: ${output}`;
      // The log of a server that did not start has no code.
      throw output.includes('could not bind') ? new PortTakenError(message) : new Error(message);
    }
    const file = readPostmasterFile(place.dataFolder);
    if (file !== null && file.pid === child.pid && file.status === 'ready') return;
  }
  if (child.pid !== undefined) await stopPostmaster(child.pid);
  throw new Error(`the embedded PostgreSQL was not ready after ${START_TIMEOUT_MS / 1000} s; see ${logPath(place)}`);
}

interface Running {
  readonly place: Place;
  readonly child: ChildProcess;
  readonly port: number;
  readonly password: string;
  readonly created: boolean;
  /** Restarts on the same port. */
  readonly startAgain: () => Promise<ChildProcess>;
  readonly release: () => void;
  readonly log: (message: string) => void;
}

/** Restarts the database of a running service after a crash; its address stays the same. */
function watch({ place, child, port, password, created, startAgain, release, log }: Running): Cluster {
  let pid = child.pid as number;
  let stopping: Promise<void> | undefined;
  let restart: Promise<void> = Promise.resolve();
  const stop = new AbortController();

  const restarted = async (): Promise<void> => {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      await sleep(pause, undefined, { signal: stop.signal }).catch(() => undefined);
      if (stop.signal.aborted) return;
      try {
        const next = await startAgain();
        pid = next.pid as number;
        observe(next);
        log('the embedded PostgreSQL is running again');
        return;
      } catch (error) {
        log(`the embedded PostgreSQL cannot be restarted yet: ${(error as Error).message}`);
      }
    }
  };
  const observe = (running: ChildProcess): void => {
    running.once('exit', (code, signal) => {
      if (stop.signal.aborted) return;
      log(`the embedded PostgreSQL ended unexpectedly (${signal ?? code}) and is being restarted; see ${logPath(place)}.1 for the reason`);
      restart = restarted();
    });
  };
  observe(child);

  return {
    folder: place.folder,
    created,
    port,
    get pid() {
      return pid;
    },
    url: (database = 'postgres') => `postgres://${SUPERUSER}:${password}@${HOST}:${port}/${encodeURIComponent(database)}`,
    connectionConfig: (database = 'postgres') => ({ host: HOST, port, user: SUPERUSER, password, database }),
    stop() {
      stop.abort();
      stopping ??= restart.then(() => stopPostmaster(pid)).then(release);
      return stopping;
    },
  };
}
