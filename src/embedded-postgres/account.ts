import { readFileSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The operating system user that database processes run as. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Accounts to try, in order, if the service runs as root, which PostgreSQL refuses. */
const SERVICE_ACCOUNTS: readonly string[] = ['postgres', 'nobody'];

/**
 * Returns the account to switch to, or `null` to keep the user of this process.
 * @param names candidates, the preferred one first
 * @throws Error if this process is root and none of them exists
 */
export function accountToSwitchTo(names: readonly string[] = SERVICE_ACCOUNTS): Account | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readAccounts();
  for (const name of names) {
    const found = accounts.get(name);
    if (found !== undefined && found.uid !== 0) return found;
  }
  throw new Error(
    `PostgreSQL does not run as root, and there is no user ${names.join(' or ')} to run it as: start the service as another user, or set --database-url`,
  );
}

function readAccounts(): Map<string, Account> {
  const accounts = new Map<string, Account>();
  let passwd: string;
  try {
    passwd = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return accounts;
  }
  for (const line of passwd.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (name !== undefined && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? ''))
      accounts.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return accounts;
}

const READ = 4;
const ENTER = 1;

/**
 * Returns whether the account can enter every folder above `path`, with symbolic links followed, and can read `path` and, if that is a
 * folder, enter it.
 */
export function canReach(account: Account, path: string): boolean {
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    return canEnterParents(account, real) && permits(account, stats, stats.isDirectory() ? READ | ENTER : READ);
  } catch {
    return false;
  }
}

/** Returns whether the account could use a folder created at `path`: it can enter the existing part of the path. */
export function couldReach(account: Account, path: string): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      const real = realpathSync(folder);
      return canEnterParents(account, real) && permits(account, statSync(real), ENTER);
    } catch {
      if (folder === dirname(folder)) return false;
    }
  }
}

function canEnterParents(account: Account, real: string): boolean {
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    if (!permits(account, statSync(folder), ENTER)) return false;
    if (folder === dirname(folder)) return true;
  }
}

// Supplementary groups are dropped when a process is started as another user, so only the gid counts.
function permits(account: Account, stats: Stats, mode: number): boolean {
  const shift = stats.uid === account.uid ? 6 : stats.gid === account.gid ? 3 : 0;
  return ((stats.mode >> shift) & mode) === mode;
}
