import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Returns the start time of a process as text, which distinguishes it from a later process with the same id; `null` if there is no such
 * process or it is a zombie.
 */
export function processStart(pid: number): string | null {
  if (process.platform !== 'linux') return fromPs(pid, 'lstart=');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything, so fields are counted after the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** Returns the arguments of a running process, or `null`. */
export function processArguments(pid: number): string | null {
  if (process.platform !== 'linux') return fromPs(pid, 'command=');
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return null;
  }
}

function fromPs(pid: number, column: string): string | null {
  try {
    const shown = execFileSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    return shown === '' ? null : shown;
  } catch {
    return null;
  }
}
