/** Schema drift: tables that the metadata of a project tracks although no migration creates them, so that a copy of the project lacks them. */
import { join } from 'node:path';
import type { Backend } from '../backend/backend.ts';
import type { ScannedStatement } from '../backend/migration-dialect.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { withoutComments } from '../model/split-statements.ts';
import { printedName } from '../project/directory/sections.ts';
import type { Files } from '../project/directory/files.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../util/json.ts';
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
    const created = createdTables(migrations.flatMap(({ up }) => dialect.scan(up ?? '').statements));
    if (created === undefined) return [];
    return trackedTables(entry).flatMap(({ name, shown }) => (created.has(name.toLowerCase()) ? [] : [{ source, table: shown }]));
  });
}

function trackedTables({ tables }: JsonObject): readonly { readonly name: string; readonly shown: string }[] {
  return (isJsonArray(tables) ? tables : []).filter(isJsonObject).flatMap(({ table }) => {
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
/** First words of statements that may do so by a function: only texts in them count, because they name the tables that they read. */
const CALLING: ReadonlySet<string> = new Set(['select', 'with']);
const LITERAL = /'(?:[^']|'')*'/g;
const INTO = new RegExp(`\\binto (?:unlogged )?(?:table )?${SQL_NAME}`, 'giu');
const ANY_NAME = new RegExp(SQL_NAME, 'gu');
/** Tables and views that common extensions create. */
const OF_EXTENSIONS =
  /^(?:spatial_ref_sys|geometry_columns|geography_columns|raster_columns|raster_overviews|topology|layer|\w+_stat_statements(?:_info)?)$/;

interface CreatedTables {
  has(name: string): boolean;
}

/** Returns the names of the tables and views that exist after the statements, in lower case; `undefined` if they cannot be known. */
export function createdTables(statements: readonly ScannedStatement[]): CreatedTables | undefined {
  /** Number of times that a name was created, possibly in several schemas. */
  const created = new Map<string, number>();
  const add = (name: string, change = 1): void => void created.set(name, Math.max(0, (created.get(name) ?? 0) + change));
  /** Names that dynamic SQL may continue, such as those of partitions. */
  const beginnings = new Set<string>();
  let hasExtension = false;
  for (const { text, words } of statements) {
    const [verb = '', object = ''] = words;
    hasExtension ||= verb === 'create' && object === 'extension';
    const isDynamic = DYNAMIC.has(verb);
    const keepsTexts = isDynamic || CALLING.has(verb);
    // MariaDB runs what is in comments of this form.
    const run = text.includes('/*!') ? text.replaceAll(/\/\*!\d*|\*\//g, ' ') : text;
    const sql = withoutComments(run, (literal) => (literal.startsWith("'") && !keepsTexts ? "''" : literal)).replace(/\s+/g, ' ');
    if (verb === 'import') {
      const limited = IMPORTED.exec(sql)?.[1];
      if (limited === undefined) return undefined;
      for (const [name] of limited.matchAll(ANY_NAME)) add(lastPart(name));
    }
    const dropped = DROPPED.exec(sql.trim())?.[1];
    for (const [name] of dropped?.matchAll(ANY_NAME) ?? []) add(lastPart(name), -1);
    if (dropped !== undefined) continue;
    if (isDynamic)
      for (const [name] of sql.matchAll(ANY_NAME)) {
        for (const part of partsOf(name)) {
          add(part);
          if (part.endsWith('_')) beginnings.add(part);
        }
      }
    const texts = CALLING.has(verb) ? [...(sql.match(LITERAL) ?? [])] : [];
    for (const literal of texts) for (const [name] of literal.matchAll(ANY_NAME)) for (const part of partsOf(name)) add(part);
    if (CALLING.has(verb)) for (const [, name = ''] of sql.matchAll(INTO)) if (!/\binsert into /i.test(sql)) add(lastPart(name));
    for (const [, name = ''] of sql.matchAll(CREATED)) add(lastPart(name));
    for (const [, from = '', to = ''] of sql.matchAll(verb === 'rename' ? RENAMED : ALTERED)) {
      add(lastPart(from), -1);
      add(lastPart(to));
    }
  }
  const isBegun = (name: string): boolean => [...beginnings].some((beginning) => name.startsWith(beginning));
  return {
    has: (name) => (created.get(name) ?? 0) > 0 || isBegun(name) || (hasExtension && OF_EXTENSIONS.test(name)),
  };
}

function partsOf(name: string): readonly string[] {
  return (name.match(/"[^"]*"|`[^`]*`|[^.\s"`]+/g) ?? []).map((part) => part.replace(/^["`]|["`]$/g, '').toLowerCase());
}

function lastPart(name: string): string {
  return partsOf(name).at(-1) ?? '';
}
