import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Account, accountToSwitchTo, couldReach } from './account.ts';
import { makeSharedFolder, pathHash, sharedFolders } from './shared-folder.ts';

/** Folders of a cluster and the account that it runs as. */
export interface Place {
  /** Folder of password, log and lock, which belong to the user of the service. */
  readonly folder: string;
  /** Folder of the database's own files, which belong to its user. */
  readonly dataFolder: string;
  /** `null` for the user of this process. */
  readonly account: Account | null;
}

/**
 * Returns the requested folder or, if the database has to run as another user that cannot reach it, a folder below a shared one, which is
 * always the same for the requested folder. Existing files are used by the user that owns them.
 * @throws Error with the reason why each folder is unusable
 */
export function choosePlace(requested: string, accountNames?: readonly string[]): Place {
  const account = accountToSwitchTo(accountNames);
  if (account === null) return ownPlace(requested);
  const candidates = candidatesFor(requested);
  for (const folder of candidates) {
    const owner = ownerOf(join(folder, 'data'));
    if (owner !== null && owner.uid !== 0 && couldReach(owner, folder)) return { folder, dataFolder: join(folder, 'data'), account: owner };
  }
  const problems: string[] = [];
  for (const folder of candidates) {
    try {
      if (folder !== requested) makeSharedFolder(dirname(folder));
      if (!couldReach(account, folder)) throw new Error(`user ${account.uid} cannot enter it`);
      makeFolders(folder, 0o755);
      trySwitch(folder, account);
      return { folder, dataFolder: join(folder, 'data'), account };
    } catch (error) {
      problems.push(`${folder}: ${(error as Error).message}`);
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, and user ${account.uid} can use no folder for it: ${problems.join('; ')}. Set another --data-dir, or --database-url`,
  );
}

/** Returns whether a cluster exists for the requested folder, wherever it is stored. Creates nothing. */
export function hasCluster(requested: string): boolean {
  const candidates = process.getuid?.() === 0 ? candidatesFor(requested) : [requested];
  return candidates.some((folder) => existsSync(join(folder, 'data', 'PG_VERSION')));
}

function candidatesFor(requested: string): readonly string[] {
  return [requested, ...sharedFolders().map((shared) => join(shared, pathHash(requested)))];
}

function ownPlace(folder: string): Place {
  const dataFolder = join(folder, 'data');
  const owner = ownerOf(dataFolder);
  if (owner !== null && process.getuid !== undefined && owner.uid !== process.getuid()) {
    throw new Error(
      `the embedded PostgreSQL in ${folder} belongs to user ${owner.uid}: start the service as that user or as root, or set another --data-dir`,
    );
  }
  try {
    makeFolders(folder, 0o700);
  } catch (error) {
    throw new Error(
      `the folder of the embedded PostgreSQL cannot be created: ${(error as Error).message}. Set another --data-dir, or --database-url`,
    );
  }
  return { folder, dataFolder, account: null };
}

function ownerOf(folder: string): Account | null {
  try {
    const { uid, gid } = statSync(folder);
    return { uid, gid };
  } catch (error) {
    // The folder belongs to another user and cannot be read: the start reports that precisely.
    if ((error as NodeJS.ErrnoException).code === 'EACCES')
      throw new Error(`${folder} cannot be read by this user: set another --data-dir`);
    return null;
  }
}

/** Creates the folder and missing parents, with this mode whatever the umask is. */
function makeFolders(folder: string, mode: number): void {
  const missing: string[] = [];
  for (let path = folder; !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.reverse()) {
    mkdirSync(path);
    chmodSync(path, mode);
  }
}

/** Some file systems ignore a change of owner; this is detected before the database refuses its folder. */
function trySwitch(folder: string, account: Account): void {
  const probe = mkdtempSync(join(folder, 'probe-'));
  try {
    chownSync(probe, account.uid, account.gid);
    if (lstatSync(probe).uid !== account.uid) throw new Error('the file system does not support changing the owner of files');
  } finally {
    rmSync(probe, { recursive: true });
  }
}
