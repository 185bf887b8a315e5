/** Migrations of a project as they lie on disk: `migrations/<source>/<version>_<name>/{up,down}.sql`. */
import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from '../project/directory/files.ts';
import { type Problem, ProjectFailure, reasonOf } from '../project/failure.ts';

export interface Migration {
  /** An unsigned 64-bit number; too long for a double. */
  readonly version: bigint;
  readonly name: string;
  readonly folder: string;
  /** For messages. */
  readonly shown: string;
  /** What there is to be run; '' runs nothing. null: there is no file. */
  readonly up: string | null;
  readonly down: string | null;
  /** Of `up`. */
  readonly checksum: string;
  /** Statements one by one, without a transaction around them. */
  readonly withoutTransaction: boolean;
}

export const FOLDER = /^(\d+)_(.*)$/s;
const LARGEST_VERSION = 2n ** 64n - 1n;
const UP = 'up.sql';
const UP_WITHOUT_TRANSACTION = 'up.notx.sql';
const DOWN = 'down.sql';
/** Of the first line. */
const MARK = /^\uFEFF?\s*--\s*svc:\s*no-transaction\b/;

export function checksumOf(sql: string): string {
  // A checkout may change the ends of lines.
  return createHash('sha256').update(sql.replaceAll('\r\n', '\n')).digest('hex');
}

/** The folders in `folder`, which need not exist, by name. */
function subfolders(folder: string): readonly string[] {
  try {
    // Links are followed.
    return readdirSync(folder).filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory() === true);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new ProjectFailure([{ code: 'unreadable', message: reasonOf(thrown), file: folder }]);
  }
}

/** Names of the sources that have a folder. */
export function migratedSources(folder: string): readonly string[] {
  return subfolders(folder)
    .filter((name) => !FOLDER.test(name) && !name.startsWith('.'))
    .sort();
}

/**
 * The migrations of a source in the order in which they are to be run.
 * @throws ProjectFailure naming everything that is wrong
 */
export function readMigrations(files: Files, folder: string): readonly Migration[] {
  const problems: Problem[] = [];
  const byVersion = new Map<bigint, Migration>();
  for (const name of subfolders(folder)) {
    const match = FOLDER.exec(name);
    if (match === null) continue;
    const path = join(folder, name);
    const shown = files.show(path);
    const version = BigInt(match[1] as string);
    if (version > LARGEST_VERSION) {
      problems.push({ code: 'migration', message: `the version ${version} is no unsigned number of 64 bits`, file: shown });
      continue;
    }
    for (const odd of ['up.yaml', 'down.yaml', 'up.yml', 'down.yml'])
      if (files.read(join(path, odd)) !== undefined)
        problems.push({
          code: 'migration',
          message: 'migrations of API calls are not run: svc import takes the SQL out of them',
          file: `${shown}/${odd}`,
        });
    const plain = files.read(join(path, UP));
    const marked = files.read(join(path, UP_WITHOUT_TRANSACTION));
    if (plain !== undefined && marked !== undefined)
      problems.push({ code: 'migration', message: `there are both ${UP} and ${UP_WITHOUT_TRANSACTION}`, file: shown });
    const up = plain ?? marked ?? null;
    const down = files.read(join(path, DOWN)) ?? null;
    if (up === null && down === null) continue;
    const other = byVersion.get(version);
    if (other !== undefined) problems.push({ code: 'migration', message: `has the version ${version} of ${other.shown}`, file: shown });
    byVersion.set(version, {
      version,
      name: match[2] as string,
      folder: path,
      shown,
      up,
      down: down === null || down.trim() === '' ? null : down,
      checksum: checksumOf(up ?? ''),
      withoutTransaction: marked !== undefined || MARK.test(up ?? ''),
    });
  }
  if (problems.length > 0) throw new ProjectFailure(problems);
  return [...byVersion.values()].sort(byVersionNumber);
}

function byVersionNumber(a: Migration, b: Migration): number {
  return a.version < b.version ? -1 : a.version > b.version ? 1 : 0;
}

/** The path of the file of a migration's SQL, for messages. */
export function shownFile(migration: Migration, direction: 'up' | 'down'): string {
  if (direction === 'down') return `${migration.shown}/${DOWN}`;
  const isMarkedByName = migration.withoutTransaction && !MARK.test(migration.up ?? '');
  return `${migration.shown}/${isMarkedByName ? UP_WITHOUT_TRANSACTION : UP}`;
}
