/** Files of migrations: `migrations/<source>/<version>_<name>/{up,down}.sql`. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../project/directory/files.ts';
import { type Problem, ProjectFailure, reasonOf } from '../project/failure.ts';

export interface Migration {
  /** Unsigned 64-bit number, which a double cannot hold. */
  readonly version: bigint;
  readonly name: string;
  readonly folder: string;
  /** Path of the folder for messages. */
  readonly shown: string;
  /** SQL; `''` runs nothing. `null` if there is no file. */
  readonly up: string | null;
  readonly down: string | null;
  /** Checksum of `up`. */
  readonly checksum: string;
  /** True if `up` runs statement by statement, without a transaction. */
  readonly withoutTransaction: boolean;
}

export const FOLDER = /^(\d+)_(.*)$/s;
const MAX_VERSION = 2n ** 64n - 1n;
const UP = 'up.sql';
const UP_WITHOUT_TRANSACTION = 'up.notx.sql';
const DOWN = 'down.sql';
/** First line of a file that runs without a transaction. */
const NO_TRANSACTION = /^\uFEFF?\s*--\s*svc:\s*no-transaction\b/;

/** Warning for a migration without SQL, as `svc migrate create` makes it. */
export const EMPTY_MIGRATION =
  'the file is empty, so the migration is recorded as applied without running anything: SQL that is written later counts as a change';

/** Returns whether no SQL is written yet. */
export function isEmptySql(sql: string): boolean {
  return sql.trim() === '';
}

export function checksumOf(sql: string): string {
  // A checkout may change line endings.
  return createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
}

/** Returns the names of the folders and links to folders in `folder`, which may not exist. */
function subfolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new ProjectFailure([{ code: 'unreadable', message: reasonOf(thrown), file: folder }]);
  }
}

/** Returns the names of the sources that have a folder. */
export function migratedSources(folder: string): readonly string[] {
  return subfolders(folder)
    .filter((name) => !FOLDER.test(name) && !name.startsWith('.'))
    .sort();
}

/** Returns the migrations of a source by ascending version. @throws ProjectFailure with every problem found */
export function readMigrations(files: Files, folder: string): readonly Migration[] {
  const problems: Problem[] = [];
  const byVersion = new Map<bigint, Migration>();
  for (const name of subfolders(folder)) {
    const match = FOLDER.exec(name);
    if (match === null) continue;
    const path = join(folder, name);
    const shown = files.show(path);
    const version = BigInt(match[1] as string);
    if (version > MAX_VERSION) {
      problems.push({ code: 'migration', message: `the version ${version} is greater than ${MAX_VERSION}`, file: shown });
      continue;
    }
    for (const odd of ['up.yaml', 'down.yaml', 'up.yml', 'down.yml'])
      if (files.read(join(path, odd)) !== undefined)
        problems.push({
          code: 'migration',
          message: 'migrations made of API calls are not supported: svc import extracts their SQL',
          file: `${shown}/${odd}`,
        });
    const plain = files.read(join(path, UP));
    const marked = files.read(join(path, UP_WITHOUT_TRANSACTION));
    if (plain !== undefined && marked !== undefined)
      problems.push({ code: 'migration', message: `has both ${UP} and ${UP_WITHOUT_TRANSACTION}: remove one of them`, file: shown });
    const up = plain ?? marked ?? null;
    const down = files.read(join(path, DOWN)) ?? null;
    if (up === null && down === null) continue;
    const other = byVersion.get(version);
    if (other !== undefined)
      problems.push({ code: 'migration', message: `has the same version ${version} as ${other.shown}`, file: shown });
    byVersion.set(version, {
      version,
      name: match[2] as string,
      folder: path,
      shown,
      up,
      down: down === null || down.trim() === '' ? null : down,
      checksum: checksumOf(up ?? ''),
      withoutTransaction: marked !== undefined || NO_TRANSACTION.test(up ?? ''),
    });
  }
  if (problems.length > 0) throw new ProjectFailure(problems);
  return [...byVersion.values()].sort((a, b) => compareVersions(a.version, b.version));
}

export function compareVersions(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the path of the SQL file of a migration, for messages. */
export function shownFile(migration: Migration, direction: 'up' | 'down'): string {
  if (direction === 'down') return `${migration.shown}/${DOWN}`;
  const isMarkedByName = migration.withoutTransaction && !NO_TRANSACTION.test(migration.up ?? '');
  return `${migration.shown}/${isMarkedByName ? UP_WITHOUT_TRANSACTION : UP}`;
}
