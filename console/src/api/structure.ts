/** Structure of tables in their database: what the schema cache lacks. Read by the SQL of the kind, in transactions that are read-only. */
import { qualified, readOf, type SqlName } from '../model/definitions.ts';
import { isList, isObject, type Json } from '../model/json.ts';
import type { SourceOverview, TableOverview } from '../model/overview.ts';
import { STRUCTURES } from '../model/structures.generated.ts';
import { runSql } from './metadata.ts';

export interface TableSize {
  /** In bytes. */
  readonly total: number;
  readonly rows: number;
  readonly indexes: number;
  readonly estimatedRows: number;
}

export interface TableIndex {
  readonly name: string;
  readonly definition: string;
  /** In bytes; undefined if the database does not report it. */
  readonly size: number | undefined;
  readonly isUnique: boolean;
  /** Constraint that the index belongs to; empty if there is none. */
  readonly constraint: string;
}

export type ConstraintKind = 'primary-key' | 'unique' | 'foreign-key' | 'check' | 'other';

export interface TableConstraint {
  readonly name: string;
  readonly kind: ConstraintKind;
  readonly definition: string;
}

export interface DatabaseTrigger {
  readonly name: string;
  readonly definition: string;
  readonly isEnabled: boolean;
}

export interface TableStructure {
  /** Undefined for views. */
  readonly size: TableSize | undefined;
  readonly indexes: readonly TableIndex[];
  readonly constraints: readonly TableConstraint[];
  readonly triggers: readonly DatabaseTrigger[];
}

export interface EnumType {
  readonly name: SqlName;
  readonly comment: string;
  readonly values: readonly string[];
}

/** Maximum number of rows of each list. */
const MAX_ROWS = 10_000;

/** @returns undefined if the kind has no SQL for it @throws Failure */
export async function readStructure(table: TableOverview, signal?: AbortSignal): Promise<TableStructure | undefined> {
  const { source, kind } = table;
  const form = STRUCTURES[kind];
  if (form === undefined) return undefined;
  const { reads } = form;
  const [sizes, indexes, constraints, triggers] = await Promise.all(
    [reads.size, reads.indexes, reads.constraints, reads.triggers].map((read) => rowsOf(source, kind, readOf(read, table, form), signal)),
  );
  const [size] = sizes ?? [];
  return {
    size:
      size === undefined
        ? undefined
        : { total: Number(size[0]), rows: Number(size[1]), indexes: Number(size[2]), estimatedRows: Number(size[3]) },
    indexes: (indexes ?? []).map(([name = '', definition = '', bytes = '', unique, constraint = '']) => ({
      name,
      definition,
      size: bytes === '' ? undefined : Number(bytes),
      isUnique: unique === 'unique',
      constraint,
    })),
    constraints: (constraints ?? []).map(([name = '', found, definition = '']) => ({ name, kind: found as ConstraintKind, definition })),
    triggers: (triggers ?? []).map(([name = '', definition = '', state]) => ({ name, definition, isEnabled: state === 'enabled' })),
  };
}

/** Reads the enum types of a source. @throws Failure */
export async function readEnums(
  { name: source, kind }: Pick<SourceOverview, 'name' | 'kind'>,
  signal?: AbortSignal,
): Promise<readonly EnumType[]> {
  const sql = STRUCTURES[kind]?.reads.enums;
  if (sql === undefined) return [];
  const found = new Map<string, EnumType>();
  for (const [schema = '', name = '', comment = '', value = ''] of await rowsOf(source, kind, sql, signal)) {
    const key = JSON.stringify([schema, name]);
    const former = found.get(key);
    found.set(key, { name: { schema, name }, comment, values: [...(former?.values ?? []), value] });
  }
  return [...found.values()];
}

export interface ColumnAttributes {
  /** SQL that a change of the type repeats, the check last. */
  readonly attributes: string;
  readonly check: string;
  /** Reason why the type cannot be changed; empty if it can. */
  readonly problem: string;
}

/** Reads what a change of a column's type has to repeat. @throws Failure */
export async function readColumnAttributes(
  { name: source, kind }: Pick<SourceOverview, 'name' | 'kind'>,
  table: SqlName,
  column: string,
  type: string,
  signal?: AbortSignal,
): Promise<ColumnAttributes> {
  const form = STRUCTURES[kind];
  const read = form?.reads.columnAttributes;
  if (form === undefined || read === undefined) throw new Error('the kind changes the type alone');
  const [row] = await rowsOf(source, kind, readOf(read, table, form, { column, type }), signal);
  const [attributes = '', check = '', problem = 'The column does not exist'] = row ?? [];
  return { attributes, check, problem };
}

/** Name of an enum type in SQL. */
export function enumSql({ name }: EnumType, kind: string): string {
  const form = STRUCTURES[kind];
  return form === undefined ? name.name : qualified(name, form.quotes);
}

async function rowsOf(source: string, kind: string, sql: string, signal?: AbortSignal): Promise<readonly (readonly string[])[]> {
  const response: Json = await runSql(kind, { source, sql, read_only: true, max_rows: MAX_ROWS }, signal);
  const result = isObject(response) && isList(response['result']) ? response['result'] : [];
  return result
    .filter(isList)
    .slice(1)
    .map((row) => row.map(String));
}
