import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processArguments, processStart } from './process.ts';

/** Content of `postmaster.pid`; see "Database File Layout" in the manual of PostgreSQL. */
export interface PostmasterFile {
  readonly pid: number;
  /** `starting`, `ready`, …; empty while the file is being written. */
  readonly status: string;
}

/** Returns the state of the server of a data folder, or `null` if it does not run or cannot be read. */
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

/** Fast shutdown: connections are closed and everything is written. After `timeoutMs` an immediate shutdown follows. */
export async function stopPostmaster(pid: number, timeoutMs = 30_000): Promise<void> {
  const started = processStart(pid);
  if (started === null) return;
  const hasEnded = (): boolean => processStart(pid) !== started;
  for (const [signal, timeout] of [
    ['SIGINT', timeoutMs],
    ['SIGQUIT', 10_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw new Error(`the embedded PostgreSQL, process ${pid}, cannot be stopped: ${(error as Error).message}`);
    }
    for (const until = Date.now() + timeout; Date.now() < until; await sleep(5)) if (hasEnded()) return;
  }
  throw new Error(`the embedded PostgreSQL, process ${pid}, does not stop`);
}

/**
 * Stops a database that a killed service left running in the folder, and removes the file of a killed database whose process id was reused.
 * Only the owner of the folder may call this.
 * @returns the id of the stopped process, or `null`
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
