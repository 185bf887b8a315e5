import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { processStart } from './process.ts';

/** Another living process uses the folder. */
export class InUseError extends Error {
  readonly pid: number;
  constructor(folder: string, pid: number) {
    super(
      `the embedded PostgreSQL in ${folder} is in use by another service, process ${pid}: stop that one first, or give this one another --data-dir`,
    );
    this.name = 'InUseError';
    this.pid = pid;
  }
}

/**
 * Marks the folder as used by this process, in the file `path`. The mark of a dead process is replaced.
 * @returns a function that removes the mark
 * @throws InUseError
 */
export function takeOwnership(folder: string, path: string): () => void {
  const mine = JSON.stringify({ pid: process.pid, started: processStart(process.pid) });
  // Written to another file and linked, so that no process reads a partial mark.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, mine, { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      try {
        linkSync(draft, path);
        return () => {
          if (read(path) === mine) rmSync(path, { force: true });
        };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const other = read(path);
      if (other === null) continue;
      const pid = livingOwner(other);
      if (pid !== null) throw new InUseError(folder, pid);
      removeStale(path, other);
    }
    throw new Error(`${path} keeps changing: several services are being started in ${folder}`);
  } finally {
    rmSync(draft, { force: true });
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function livingOwner(mark: string): number | null {
  let owner: { pid?: unknown; started?: unknown };
  try {
    owner = JSON.parse(mark) as { pid?: unknown; started?: unknown };
  } catch {
    return null;
  }
  if (typeof owner.pid !== 'number') return null;
  const started = processStart(owner.pid);
  return started !== null && started === owner.started ? owner.pid : null;
}

/** Moves the mark away, and back if another process replaced it between reading and moving. */
function removeStale(path: string, stale: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  if (read(aside) !== stale) {
    try {
      linkSync(aside, path);
    } catch {
      // a third process owns it by now
    }
  }
  rmSync(aside, { force: true });
}
