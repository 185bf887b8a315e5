/** Seeds: SQL files below `seeds/<source>/`, run in the order of their paths. */
import { join } from 'node:path';
import { type DumpContext, refusalOf } from '../backend/migration-dialect.ts';
import type { Files } from '../project/directory/files.ts';
import { failure, type Problem, ProjectFailure } from '../project/failure.ts';
import { ServerError, type ServerClient, type SqlSource } from '../project/server-client.ts';
import { createNeededExtension } from './implicit-extension.ts';
import { checksumOf } from './migration-files.ts';
import { readSeedEntries, type RunOptions } from './run-migrations.ts';
import { enumTables, type ListedSource, migrationsOf, rowsOf } from './sources.ts';
import { pieceAt } from './text-place.ts';

export interface Seed {
  /** Below the folder of its source. */
  readonly name: string;
  readonly shown: string;
  readonly sql: string;
}

/** @param only names below the folder; empty: all. @throws ProjectFailure for a name that is not there */
export function readSeeds(files: Files, folder: string, only: readonly string[] = []): readonly Seed[] {
  const seeds = files
    .list(folder)
    .filter((path) => path.endsWith('.sql'))
    .map((path): Seed => ({ name: path.slice(folder.length + 1), shown: files.show(path), sql: files.read(path) ?? '' }));
  const missing = only.filter((name) => !seeds.some((seed) => seed.name === name || seed.shown === name));
  if (missing.length > 0)
    throw new ProjectFailure(
      missing.map((name): Problem => ({ code: 'missing-file', message: 'there is no such seed', file: files.show(join(folder, name)) })),
    );
  return only.length === 0 ? seeds : seeds.filter(({ name, shown }) => only.includes(name) || only.includes(shown));
}

/**
 * Runs seeds of a source in one transaction.
 * @param once those that were run before are left out, and that these were run is written down
 * @returns the names of those that were run
 * @throws ProjectFailure
 */
export async function runSeeds(
  server: ServerClient,
  source: ListedSource,
  seeds: readonly Seed[],
  once: boolean,
  options: RunOptions,
): Promise<readonly string[]> {
  const { history, scan, terminated } = migrationsOf(source);
  const problems = seeds.flatMap(({ sql, shown }) => {
    const { foreign, outside } = scan(sql);
    return [...foreign, ...outside.map(({ line, words }) => ({ line, what: words.join(' ') }))].map(({ line, what }) => ({
      code: 'seed',
      message: `${what} cannot be run in a seed`,
      file: shown,
      line,
    }));
  });
  if (problems.length > 0) throw new ProjectFailure(problems);
  for (let attempt = 1; ; attempt++) {
    const before = once ? await readSeedEntries(server, source) : new Map<string, string>();
    for (const { name, sql, shown } of seeds) {
      const known = before.get(name);
      if (known !== undefined && known !== checksumOf(sql)) options.tell(`${shown} has changed since it was run once: it is not run again`);
    }
    const left = seeds.filter(({ name }) => !before.has(name));
    if (left.length === 0) return [];
    await createNeededExtension(
      server,
      source,
      left.map(({ sql }) => sql),
      options.tell,
    );
    const pieces = left.map(({ name, sql, shown }) => {
      const { control, joined } = scan(sql);
      if (joined === undefined)
        throw failure('seed', `"${control.map(({ text }) => text).join('; ')}": a seed is a part of one transaction`, { file: shown });
      return { name, shown, checksum: checksumOf(sql), sql: terminated(joined) };
    });
    const parts = pieces.map(({ name, checksum, sql }) =>
      once ? `${history.refuseSeed(name)}${sql}${history.insertSeed(name, checksum)}` : sql,
    );
    const sql = history.inTransaction(options.limits, parts.join(''));
    try {
      await server.sql(source, sql, { check_metadata_consistency: false, locate_errors: true });
      return left.map(({ name }) => name);
    } catch (thrown) {
      if (!(thrown instanceof ServerError)) throw thrown;
      const refusal = refusalOf(thrown.databaseError?.message ?? '');
      // Somebody else is at it, or was faster.
      if (refusal !== undefined && attempt * 500 < options.lockTimeoutMs) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        continue;
      }
      throw explained(thrown, pieces, sql, source);
    }
  }
}

/** @param pieces what was sent of each seed */
function explained(
  error: ServerError,
  pieces: readonly { readonly shown: string; readonly sql: string }[],
  sent: string,
  { name }: SqlSource,
): ProjectFailure {
  const said = error.databaseError;
  const found = said?.position === undefined ? undefined : pieceAt(pieces, sent, said.position);
  const known = found?.piece ?? (pieces.length === 1 ? pieces[0] : undefined);
  const files = pieces.map(({ shown }) => shown).join(', ');
  const which = known === undefined ? `in one of ${files}: ` : '';
  return failure(error.code, `${which}${said?.message ?? error.message}: no seed of ${name} was run`, {
    ...(known === undefined ? {} : { file: known.shown }),
    ...found?.place,
  });
}

/**
 * Returns whether a table that the metadata calls an enum has no rows: until it has some, the metadata is inconsistent.
 * @throws ProjectFailure
 */
export async function hasEmptyEnum(server: ServerClient, source: ListedSource): Promise<boolean> {
  const [tables, hasEmpty] = [enumTables(source), source.backend?.migrations?.hasEmpty];
  return tables.length > 0 && hasEmpty !== undefined && hasEmpty(rowsOf(server, source), tables);
}

/** Returns what dumps of a source need. */
export function dumpContext(server: ServerClient, source: ListedSource): DumpContext {
  return { source: source.name, rows: rowsOf(server, source), failure };
}

/** Returns the rows of a table as statements that insert them. @throws ProjectFailure if there is no such table */
export async function dumpRows(server: ServerClient, source: ListedSource, table: string, upsert: boolean): Promise<string> {
  const dialect = source.backend?.migrations;
  if (dialect === undefined) throw failure('not-supported', `rows of sources of the kind "${source.kind}" are not written as seeds`);
  return dialect.dumpRows(dumpContext(server, source), table, upsert);
}
