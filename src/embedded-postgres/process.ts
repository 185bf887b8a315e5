import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When the process was started, as text that only serves to tell it from another process that got the
 * same id later; null when there is no such process, or only the remains of one that ended.
 */
export function processStart(pid: number): string | null {
  if (process.platform !== 'linux') return fromPs(pid, 'lstart=');
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything, so fields are counted behind the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}

/** The arguments of a running process, or null. */
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
