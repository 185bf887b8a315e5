/** Seeds: SQL files below `seeds/<source>/`, run in the order of their paths. */
import { join } from 'node:path';
import { type DumpContext, historyRefusalOf } from '../backend/migration-dialect.ts';
import { invariant } from '../errors/svc-error.ts';
import type { Files } from '../project/directory/files.ts';
import { failure, type Problem, ProjectFailure } from '../project/failure.ts';
import type { Project } from '../project/project.ts';
import { ServerError, type ServerClient, type SqlSource } from '../project/server-client.ts';
import { createNeededExtension } from './implicit-extension.ts';
import { checksumOf } from './migration-files.ts';
import { readSeedEntries, type MigrationOptions } from './run-migrations.ts';
import { cellOf, enumTables, type ListedSource, migrationsOf, rowsOf } from './sources.ts';
import { pieceAt } from './text-place.ts';

export interface Seed {
  /** Path below the folder of its source. */
  readonly name: string;
  readonly shown: string;
  readonly sql: string;
}

/** Seeds of a source. */
export interface SourceSeeds {
  readonly source: ListedSource;
  readonly seeds: readonly Seed[];
}

/** Returns the seeds of all sources that have some. */
export function seedsOf({ files, seedsFolder }: Project, sources: readonly ListedSource[]): readonly SourceSeeds[] {
  return sources
    .map((source) => ({ source, seeds: readSeeds(files, join(seedsFolder, source.name)) }))
    .filter(({ seeds }) => seeds.length > 0);
}

/** Returns why a seed cannot run in the transaction of all seeds of a source. */
export function unusableIn(source: ListedSource, { sql, shown }: Seed): readonly Problem[] {
  const { foreign, outside, control, joined } = migrationsOf(source).scan(sql);
  const problems = [...foreign, ...outside.map(({ line, words }) => ({ line, what: words.join(' ') }))].map(({ line, what }) => ({
    code: 'seed',
    message: `${what} cannot run in a seed, because all seeds of a source run in one transaction`,
    file: shown,
    line,
  }));
  if (joined !== undefined) return problems;
  const message = `remove "${control.map(({ text }) => text).join('; ')}": all seeds of a source run in one transaction`;
  return [...problems, { code: 'seed', message, file: shown }];
}

/** Returns the SQL of a usable seed, without transaction control. */
export function joinedSql(source: ListedSource, { sql }: Seed): string {
  const { scan, terminated } = migrationsOf(source);
  const { joined } = scan(sql);
  invariant(joined !== undefined, 'the transaction control of a usable seed can be removed');
  return terminated(joined);
}

/** @param only names or paths of seeds; empty for all. @throws ProjectFailure for one that does not exist */
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
 * Runs seeds of a source in one transaction, and returns the names of those that were run.
 * @param once whether to skip the seeds in the history, and to record the others there
 * @throws ProjectFailure
 */
export async function runSeeds(
  server: ServerClient,
  source: ListedSource,
  seeds: readonly Seed[],
  once: boolean,
  options: MigrationOptions,
): Promise<readonly string[]> {
  const { history } = migrationsOf(source);
  const problems = seeds.flatMap((seed) => unusableIn(source, seed));
  if (problems.length > 0) throw new ProjectFailure(problems);
  for (let attempt = 1; ; attempt++) {
    const before = once ? await readSeedEntries(cellOf(server, source), source) : new Map<string, string>();
    for (const { name, sql, shown } of seeds) {
      const known = before.get(name);
      if (known !== undefined && known !== checksumOf(sql))
        options.report(`${shown} has changed since it was run with --once: it is not run again`);
    }
    const left = seeds.filter(({ name }) => !before.has(name));
    if (left.length === 0) return [];
    await createNeededExtension(
      server,
      source,
      left.map(({ sql }) => sql),
      options.report,
    );
    const pieces = left.map((seed) => ({ ...seed, checksum: checksumOf(seed.sql), sql: joinedSql(source, seed) }));
    const parts = pieces.map(({ name, checksum, sql }) =>
      once ? `${history.refuseSeed(name)}${sql}${history.insertSeed(name, checksum)}` : sql,
    );
    const sql = history.inTransaction(options.limits, parts.join(''));
    try {
      await server.sql(source, sql, { check_metadata_consistency: false, locate_errors: true });
      return left.map(({ name }) => name);
    } catch (thrown) {
      if (!(thrown instanceof ServerError)) throw thrown;
      const refusal = historyRefusalOf(thrown.databaseError?.message ?? '');
      // Another run holds the lock or has just run one of these seeds.
      if (refusal !== undefined && attempt * 500 < options.lockTimeoutMs) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        continue;
      }
      throw explained(thrown, pieces, sql, source);
    }
  }
}

/** @param pieces SQL of each seed as it was sent */
function explained(
  error: ServerError,
  pieces: readonly { readonly shown: string; readonly sql: string }[],
  sent: string,
  { name }: SqlSource,
): ProjectFailure {
  const cause = error.databaseError;
  const found = cause?.position === undefined ? undefined : pieceAt(pieces, sent, cause.position);
  const known = found?.piece ?? (pieces.length === 1 ? pieces[0] : undefined);
  const files = pieces.map(({ shown }) => shown).join(', ');
  const which = known === undefined ? `in one of ${files}: ` : '';
  return failure(error.code, `${which}${cause?.message ?? error.message}: no seed of ${name} was run`, {
    ...(known === undefined ? {} : { file: known.shown }),
    ...found?.place,
  });
}

/**
 * Returns whether an enum table of the source has no rows, which makes the metadata inconsistent.
 * @throws ProjectFailure
 */
export async function hasEmptyEnum(server: ServerClient, source: ListedSource): Promise<boolean> {
  const [tables, hasEmpty] = [enumTables(source), source.backend?.migrations?.hasEmpty];
  return tables.length > 0 && hasEmpty !== undefined && hasEmpty(rowsOf(server, source), tables);
}

export function dumpContext(server: ServerClient, source: ListedSource): DumpContext {
  return { source: source.name, rows: rowsOf(server, source), failure };
}

/** Returns the rows of a table as `insert` statements. @throws ProjectFailure if there is no such table */
export async function dumpTable(server: ServerClient, source: ListedSource, table: string, upsert: boolean): Promise<string> {
  const dialect = source.backend?.migrations;
  if (dialect === undefined) throw failure('not-supported', `sources of the kind "${source.kind}" do not support seeds from tables`);
  return dialect.dumpRows(dumpContext(server, source), table, upsert);
}
