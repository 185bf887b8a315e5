/** Schema drift: tables that the metadata of a project tracks although no migration creates them, so that a copy of the project lacks them. */
import { join } from 'node:path';
import type { Backend } from '../backend/backend.ts';
import type { ScannedStatement } from '../backend/migration-dialect.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { SqlLexis } from '../model/sql-lexis.ts';
import { printedName } from '../project/directory/sections.ts';
import type { Files } from '../project/directory/files.ts';
import { isJsonObject, type JsonObject, objectsIn } from '../util/json.ts';
import { bareSql } from './bare-sql.ts';
import { readMigrations } from './migration-files.ts';
import { sourcesOf } from './sources.ts';
import { SQL_NAME } from './sql-name.ts';

export interface DriftedTable {
  readonly source: string;
  /** As in messages: `public.author`. */
  readonly table: string;
}

export const DRIFT_REMEDY =
  'create it in a migration, which svc migrate create --from-diff can write, and record that as applied with svc migrate apply --skip-execution where the table exists';

export function describeDrift({ source, table }: DriftedTable): string {
  return `schema drift: ${table} of ${source} is tracked, and no migration creates it: other databases will not have it`;
}

interface DriftInput {
  readonly files: Files;
  readonly migrationsFolder: string;
  /** Metadata of the project. */
  readonly document: JsonObject;
  readonly kinds: Kinds<Backend>;
}

/**
 * Returns the drifted tables and views of all sources that have migrations. Tables are compared by name, without schema and case; a name in
 * SQL that may create tables by itself, such as a `do` block or a call, counts as created.
 * @throws ProjectFailure if the migrations cannot be read
 */
export function schemaDrift({ files, migrationsFolder, document, kinds }: DriftInput): readonly DriftedTable[] {
  return sourcesOf(document, kinds).flatMap(({ name: source, entry, backend }) => {
    const dialect = backend?.migrations;
    const migrations = dialect === undefined ? [] : readMigrations(files, join(migrationsFolder, source));
    if (dialect === undefined || migrations.length === 0) return [];
    const created = createdTables(
      migrations.flatMap(({ up }) => dialect.scan(up ?? '').statements),
      dialect.lexis,
    );
    if (created === undefined) return [];
    return trackedTables(entry).flatMap(({ name, shown }) => (created.has(name.toLowerCase()) ? [] : [{ source, table: shown }]));
  });
}

function trackedTables({ tables }: JsonObject): readonly { readonly name: string; readonly shown: string }[] {
  return objectsIn(tables).flatMap(({ table }) => {
    const name = isJsonObject(table) ? table['name'] : table;
    return typeof name === 'string' && table !== undefined ? [{ name, shown: printedName(table) }] : [];
  });
}

const NAMES = `${SQL_NAME}(?: ?, ?${SQL_NAME})*`;
/** Not temporary ones, which no other session has. */
const MODIFIERS = String.raw`(?:(?:or replace|unlogged|foreign|materialized|recursive|algorithm ?= ?\w+|definer ?= ?\S+|sql security \w+) )*`;
const TABLE = '(?:foreign |materialized )?(?:table|view)';
/** Also inside of the bodies of routines. */
const CREATED = new RegExp(String.raw`\bcreate ${MODIFIERS}(?:table|view) (?:if not exists )?${SQL_NAME}`, 'giu');
const ALTERED = new RegExp(`\\balter ${TABLE} (?:if exists )?(?:only )?${SQL_NAME} rename (?:to |as )?${SQL_NAME}(?! to )`, 'giu');
/** `rename table a to b, c to d` */
const RENAMED = new RegExp(`${SQL_NAME} to ${SQL_NAME}`, 'giu');
const DROPPED = new RegExp(`^drop (?:foreign |materialized )?(?:tables?|view) (?:if exists )?(${NAMES})`, 'iu');
const IMPORTED = /^import foreign schema .* limit to ?\(([^)]*)\)/isu;
/** First words of statements that may create tables in ways that their text does not show. */
const DYNAMIC: ReadonlySet<string> = new Set(['do', 'begin', 'call', 'execute', 'prepare', 'set']);
/** First words of statements that may call such functions. Only their string literals count: their names are tables that they read. */
const CALLING: ReadonlySet<string> = new Set(['select', 'with']);
const LITERAL = /'(?:[^']|'')*'/g;
const SELECTED_INTO = new RegExp(`(?<!\\binsert )\\binto (?:unlogged )?(?:table )?${SQL_NAME}`, 'giu');
const ANY_NAME = new RegExp(SQL_NAME, 'gu');
/** Tables and views that common extensions create. */
const OF_EXTENSIONS =
  /^(?:spatial_ref_sys|geometry_columns|geography_columns|raster_columns|raster_overviews|topology|layer|\w+_stat_statements(?:_info)?)$/;

/** Returns the names of the tables and views that exist after the statements, in lower case; `undefined` if they cannot be known. */
export function createdTables(statements: readonly ScannedStatement[], lexis: SqlLexis): { has(name: string): boolean } | undefined {
  /** Number of tables of a name, in all schemas together. */
  const counts = new Map<string, number>();
  for (const statement of statements) {
    const effects = effectsOf(statement, lexis);
    if (effects === undefined) return undefined;
    for (const name of effects.dropped) counts.set(name, Math.max(0, (counts.get(name) ?? 0) - 1));
    for (const name of effects.created) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  // Dynamic SQL may continue such a name, like those of partitions.
  const beginnings = [...counts.keys()].filter((name) => name.endsWith('_'));
  const hasExtension = statements.some(({ words: [verb, object] }) => verb === 'create' && object === 'extension');
  return {
    has: (name) =>
      (counts.get(name) ?? 0) > 0 ||
      beginnings.some((beginning) => name.startsWith(beginning)) ||
      (hasExtension && OF_EXTENSIONS.test(name)),
  };
}

interface Effects {
  readonly created: readonly string[];
  readonly dropped: readonly string[];
}

/** Returns the names that a statement creates and drops; `undefined` if it may create any. */
function effectsOf({ text, words: [verb = ''] }: ScannedStatement, lexis: SqlLexis): Effects | undefined {
  const keepsLiterals = DYNAMIC.has(verb) || CALLING.has(verb);
  const sql = bareSql(text, lexis, (literal) => (literal.startsWith("'") && !keepsLiterals ? "''" : literal));
  if (DYNAMIC.has(verb)) return { created: namesIn(sql), dropped: [] };
  if (CALLING.has(verb)) {
    const literals = (sql.match(LITERAL) ?? []).flatMap(namesIn);
    return { created: [...literals, ...firstNames(sql, SELECTED_INTO)], dropped: [] };
  }
  if (verb === 'import') {
    const imported = IMPORTED.exec(sql)?.[1];
    return imported === undefined ? undefined : { created: namesIn(imported), dropped: [] };
  }
  const dropped = DROPPED.exec(sql.trim())?.[1];
  if (dropped !== undefined) return { created: [], dropped: [...dropped.matchAll(ANY_NAME)].map(([name]) => lastPart(name)) };
  const renamed = [...sql.matchAll(verb === 'rename' ? RENAMED : ALTERED)];
  return {
    created: [...firstNames(sql, CREATED), ...renamed.map(([, , to = '']) => lastPart(to))],
    dropped: renamed.map(([, from = '']) => lastPart(from)),
  };
}

/** Returns the parts of all names in a text. */
function namesIn(text: string): readonly string[] {
  return [...text.matchAll(ANY_NAME)].flatMap(([name]) => partsOf(name));
}

/** Returns the table of the first name in each match. */
function firstNames(sql: string, pattern: RegExp): readonly string[] {
  return [...sql.matchAll(pattern)].map(([, name = '']) => lastPart(name));
}

function partsOf(name: string): readonly string[] {
  return (name.match(/"[^"]*"|`[^`]*`|[^.\s"`]+/g) ?? []).map((part) => part.replace(/^["`]|["`]$/g, '').toLowerCase());
}

function lastPart(name: string): string {
  return partsOf(name).at(-1) ?? '';
}
