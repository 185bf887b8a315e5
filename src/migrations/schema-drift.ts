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
const MODIFIERS = String.raw`(?:(?:or replace|global|local|temp|temporary|unlogged|foreign|materialized|recursive|algorithm ?= ?\w+|definer ?= ?\S+|sql security \w+) )*`;
/** Also inside of the bodies of routines. */
const CREATED: readonly RegExp[] = [
  new RegExp(String.raw`\bcreate ${MODIFIERS}(?:table|view) (?:if not exists )?${SQL_NAME}`, 'giu'),
  new RegExp(`\\brename (?:to|as) ${SQL_NAME}`, 'giu'),
];
/** `rename table a to b, c to d` */
const RENAMED_TO = new RegExp(` to ${SQL_NAME}`, 'giu');
const DROPPED = new RegExp(`^drop (?:foreign |materialized )?(?:table|view) (?:if exists )?(${NAMES})`, 'iu');
/** First words of statements that may create tables in ways that their text does not show. */
const DYNAMIC: ReadonlySet<string> = new Set(['do', 'call', 'select', 'with', 'execute', 'prepare', 'begin']);
const ANY_NAME = new RegExp(SQL_NAME, 'gu');
/** Tables and views that extensions for maps create. */
const OF_EXTENSIONS = /^(?:spatial_ref_sys|geometry_columns|geography_columns|raster_columns|raster_overviews)$/;

/** Returns the names of the tables and views that exist after the statements, in lower case; `undefined` if they cannot be known. */
export function createdTables(statements: readonly ScannedStatement[]): { has(name: string): boolean } | undefined {
  const created = new Set<string>();
  let hasExtension = false;
  for (const { text, words } of statements) {
    const [verb = '', object = ''] = words;
    if (verb === 'import') return undefined;
    hasExtension ||= verb === 'create' && object === 'extension';
    const isDynamic = DYNAMIC.has(verb);
    const sql = withoutComments(text, (literal) => (literal.startsWith("'") && !isDynamic ? "''" : literal)).replace(/\s+/g, ' ');
    const dropped = DROPPED.exec(sql)?.[1];
    for (const [name] of dropped?.matchAll(ANY_NAME) ?? []) created.delete(lastPart(name));
    if (dropped !== undefined) continue;
    for (const name of namesIn(sql, verb)) created.add(name);
  }
  return { has: (name) => created.has(name) || (hasExtension && OF_EXTENSIONS.test(name)) };
}

function namesIn(sql: string, verb: string): readonly string[] {
  if (DYNAMIC.has(verb)) return [...sql.matchAll(ANY_NAME)].flatMap(([name]) => partsOf(name));
  const patterns = verb === 'rename' ? [RENAMED_TO] : CREATED;
  return patterns.flatMap((pattern) => [...sql.matchAll(pattern)].map(([, name = '']) => lastPart(name)));
}

function partsOf(name: string): readonly string[] {
  return (name.match(/"[^"]*"|`[^`]*`|[^.\s"`]+/g) ?? []).map((part) => part.replace(/^["`]|["`]$/g, '').toLowerCase());
}

function lastPart(name: string): string {
  return partsOf(name).at(-1) ?? '';
}
