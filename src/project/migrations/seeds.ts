/** Seeds: SQL files below `seeds/<source>/`, run in the order of their paths. */
import { join } from 'node:path';
import type { Files } from '../directory/files.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import { failure, type Problem, ProjectFailure } from '../failure.ts';
import { ServerError, type ServerClient, type SqlSource } from '../server-client.ts';
import { pgText, refusalOf } from './book.ts';
import { dbbRows } from './dbb-rows.ts';
import { checksumOf } from './migration-files.ts';
import { readSeedEntries, requireBook, type RunOptions } from './run-migrations.ts';
import { terminated } from './scan-sql.ts';
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
  source: SqlSource,
  seeds: readonly Seed[],
  once: boolean,
  options: RunOptions,
): Promise<readonly string[]> {
  const book = requireBook(source);
  const problems = seeds.flatMap(({ sql, shown }) => {
    const { foreign, outside } = book.scan(sql);
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
    const pieces = left.map(({ name, sql, shown }) => {
      const { control, joined } = book.scan(sql);
      if (joined === undefined)
        throw failure('seed', `"${control.map(({ text }) => text).join('; ')}": a seed is a part of one transaction`, { file: shown });
      return { name, shown, checksum: checksumOf(sql), sql: book.transactional ? `${joined}\n;\n` : terminated(joined) };
    });
    const parts = pieces.map(({ name, checksum, sql }) =>
      once ? `${book.refuseSeed(name)}${sql}${book.insertSeed(name, checksum)}` : sql,
    );
    const sql = book.begin(options.limits) + parts.join('') + (book.transactional ? '' : book.endSession);
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
 * Whether a table that the metadata calls an enum has no rows: until it has some, the metadata is inconsistent. Of a source whose kind has
 * such tables.
 * @param tables of the source's entry in the document
 * @throws ProjectFailure
 */
export async function hasEmptyEnum(server: ServerClient, source: SqlSource, tables: Json | undefined): Promise<boolean> {
  const enums = (isJsonArray(tables) ? tables : [])
    .filter(isJsonObject)
    .flatMap(({ table, is_enum }) => (is_enum === true && table !== undefined ? [pgName(table)] : []));
  if (enums.length === 0) return false;
  const column = async (sql: string): Promise<readonly (string | undefined)[]> =>
    (await server.sql(source, sql, { read_only: true })).rows.slice(1).map(([value]) => value);
  const there = await column(
    `select name from unnest(array[${enums.map(pgText).join(', ')}]::text[]) as names (name) where pg_catalog.to_regclass(name) is not null`,
  );
  const empty = there.map((name) => `not exists (select from ${name})`);
  return empty.length > 0 && (await column(`select case when ${empty.join(' or ')} then '1' else '0' end`))[0] === '1';
}

/** A table's name in SQL; without a schema it is of `public`. */
function pgName(table: Json): string {
  const { schema, name }: JsonObject = isJsonObject(table) ? table : { schema: 'public', name: table };
  const quoted = (part: Json | undefined): string => `"${String(part ?? 'public').replaceAll('"', '""')}"`;
  return `${quoted(schema)}.${quoted(name)}`;
}

/**
 * The rows of a table as statements that insert them.
 * @throws ProjectFailure when there is no such table
 */
export async function dumpRows(server: ServerClient, source: SqlSource, name: string, upsert: boolean): Promise<string> {
  if (source.kind === 'dbb') return dbbRows(server, source, name, upsert);
  if (source.kind !== 'pg' && source.kind !== 'dbc')
    throw failure('not-supported', `rows of sources of the kind "${source.kind}" are not written as seeds`);
  const table = await server.sql(source, `select pg_catalog.to_regclass(${pgText(name)})::text`, { read_only: true });
  const shown = table.rows[1]?.[0] ?? 'NULL';
  if (shown === 'NULL') throw failure('not-exists', `there is no table "${name}" in ${source.name}`);
  const columns = await server.sql(
    source,
    `select quote_ident(a.attname), a.attidentity = 'a', coalesce(a.attnum = any (i.indkey), false) from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary where a.attrelid = ${pgText(shown)}::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum`,
    { read_only: true },
  );
  const list = columns.rows.slice(1).map(([column, always, key]) => ({ column: String(column), always: always === 't', key: key === 't' }));
  const keys = list.filter(({ key }) => key).map(({ column }) => column);
  if (upsert && keys.length === 0) throw failure('seed', `the table ${shown} has no primary key: its rows cannot be upserted`);
  const others = list.filter(({ key }) => !key).map(({ column }) => `${column} = excluded.${column}`);
  const conflict = !upsert
    ? ''
    : ` on conflict (${keys.join(', ')}) do ${others.length === 0 ? 'nothing' : `update set ${others.join(', ')}`}`;
  const head = `insert into ${shown} (${list.map(({ column }) => column).join(', ')})${list.some(({ always }) => always) ? ' overriding system value' : ''} values (`;
  const values = list.map(({ column }) => `quote_nullable(${column}::text)`).join(` || ', ' || `);
  const order = keys.length === 0 ? '' : ` order by ${keys.join(', ')}`;
  const rows = await server.sql(source, `select ${pgText(head)} || ${values} || ${pgText(`)${conflict};`)} from ${shown}${order}`, {
    read_only: true,
  });
  return rows.rows
    .slice(1)
    .map(([row]) => `${row}\n`)
    .join('');
}
