import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processArguments, processStart } from './process.ts';

/** What the database wrote into `postmaster.pid`; see "storage file layout" of its manual. */
export interface PostmasterFile {
  readonly pid: number;
  /** `starting`, `ready`, …; empty while the file is being written. */
  readonly status: string;
}

/** What the server of a data folder says of itself; null: it does not run, or cannot be asked. */
export function readPostmasterFile(dataFolder: string): PostmasterFile | null {
  let lines: string[];
  try {
    lines = readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, status: (lines[7] ?? '').trim() } : null;
}

/** Fast shutdown: connections are closed, everything is written. After `patienceMs` it is told to end at once. */
export async function stopPostmaster(pid: number, patienceMs = 30_000): Promise<void> {
  const started = processStart(pid);
  if (started === null) return;
  const hasEnded = (): boolean => processStart(pid) !== started;
  for (const [signal, patience] of [
    ['SIGINT', patienceMs],
    ['SIGQUIT', 10_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw new Error(`the embedded PostgreSQL, process ${pid}, cannot be stopped: ${(error as Error).message}`);
    }
    for (const until = Date.now() + patience; Date.now() < until; await sleep(5)) if (hasEnded()) return;
  }
  throw new Error(`the embedded PostgreSQL, process ${pid}, does not stop`);
}

/**
 * Ends a database that was left behind in the folder when its service was killed, and removes the
 * file that it left when it was killed too and its process id has been given to something else.
 * To be called by the owner of the folder only.
 * @returns the process that was stopped, or null
 */
export async function stopOrphan(dataFolder: string): Promise<number | null> {
  const file = readPostmasterFile(dataFolder);
  if (file === null) return null;
  const running = processStart(file.pid) === null ? null : processArguments(file.pid);
  if (running?.includes(dataFolder)) {
    await stopPostmaster(file.pid);
    return file.pid;
  }
  rmSync(join(dataFolder, 'postmaster.pid'), { force: true });
  return null;
}
