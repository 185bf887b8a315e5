/** The parts of a random case: tables with their data, the permissions of roles, and conditions. */
import type { Json } from '../../src/util/json.ts';

export type Kind = 'int' | 'bigint' | 'numeric' | 'float8' | 'text' | 'bool' | 'jsonb' | 'ints' | 'enum';

/** Numbers are small multiples of a quarter, so that doubles represent them and their sums exactly. */
export type Value = null | number | string | boolean | JsonbValue | IntsValue;
export interface JsonbValue {
  readonly json: Json;
}

/** An array of integers without null. */
export interface IntsValue {
  readonly ints: readonly number[];
}

/** The table whose rows are the values of type `enum`; no role has a permission on it. */
export const ENUM_TABLE = 'color';
export const ENUM_VALUES: readonly string[] = ['blue', 'green', 'red'];

export type Row = Readonly<Record<string, Value>>;
/** Rows by table; `id` is unique in each. */
export type Data = ReadonlyMap<string, readonly Row[]>;

export interface Column {
  readonly name: string;
  readonly kind: Kind;
  readonly nullable: boolean;
  /** The table whose `id` it references. */
  readonly references: string | null;
}

export interface Relationship {
  readonly name: string;
  readonly kind: 'object' | 'array';
  readonly target: string;
  readonly local: string;
  readonly remote: string;
  /** Table and column of its foreign key; null if the columns are mapped manually. */
  readonly foreignKey: { readonly table: string; readonly column: string } | null;
}

export type Computed = ScalarComputed | TableComputed;

export interface ScalarComputed {
  readonly result: 'scalar';
  readonly name: string;
  readonly kind: Kind;
  /** A further argument `more` with default 0. */
  readonly argument: boolean;
  /** `coalesce(column, fallback)`, plus `more`. */
  readonly column: string;
  readonly fallback: number | string;
  /** 10 divided by that, which fails for 0. */
  readonly divides: boolean;
}

export interface TableComputed {
  readonly result: 'table';
  readonly name: string;
  readonly target: string;
  /** Rows of the target whose `remote` is at least `local` of the row. */
  readonly local: string;
  readonly remote: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Null for a view, and for kinds without enforced keys. */
  readonly primaryKey: readonly string[] | null;
  /** A view of the columns of `base`, with the rows where `where` is not null. */
  readonly view: { readonly base: string; readonly where: string } | null;
  readonly relationships: readonly Relationship[];
  readonly computed: readonly Computed[];
  /** The function `find_<table>(low integer default 0)`: its rows whose column is at least `low`, with null as 0. */
  readonly search: { readonly column: string } | null;
}

/** The left side of a comparison. */
export type Ref = { readonly column: string } | { readonly computed: string };

export type Operand = { readonly value: Value } | { readonly values: readonly Value[] } | { readonly session: string };

export type Exp =
  | { readonly k: 'and' | 'or'; readonly items: readonly Exp[] }
  | { readonly k: 'not'; readonly item: Exp }
  /** `cast`: compares the text of a jsonb value. */
  | { readonly k: 'compare'; readonly ref: Ref; readonly operator: string; readonly operand: Operand; readonly cast: boolean }
  | { readonly k: 'null'; readonly ref: Ref; readonly isNull: boolean }
  /** Through a relationship or a table computed field. */
  | { readonly k: 'related'; readonly name: string; readonly item: Exp }
  | {
      readonly k: 'aggregate';
      readonly relationship: string;
      readonly function: string;
      readonly columns: readonly string[];
      readonly distinct: boolean;
      readonly filter: Exp | null;
      readonly operator: string;
      readonly value: number | boolean;
    }
  // in permissions only
  | { readonly k: 'exists'; readonly table: string; readonly item: Exp }
  | { readonly k: 'columns'; readonly column: string; readonly operator: string; readonly other: string; readonly root: boolean };

export interface Permission {
  readonly columns: readonly string[];
  readonly computed: readonly string[];
  readonly filter: Exp;
  readonly limit: number | null;
  readonly aggregations: boolean;
}

/** The database kind of the world. */
export type Database = 'pg' | 'dbb' | 'dbc' | 'dwh' | 'sqlite';

export interface World {
  readonly database: Database;
  readonly tables: readonly Table[];
  readonly data: Data;
  /** Keyed by role, then by table. */
  readonly permissions: ReadonlyMap<string, ReadonlyMap<string, Permission>>;
  readonly inherited: ReadonlyMap<string, readonly string[]>;
}

/** Keyed by the name after `x-svc-`. */
export type Session = Readonly<Record<string, string>>;

export function tableOf(world: World, name: string): Table {
  const table = world.tables.find((each) => each.name === name);
  if (table === undefined) throw new Error(`no table ${name}`);
  return table;
}

export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((each) => each.name === name);
  if (column === undefined) throw new Error(`no column ${table.name}.${name}`);
  return column;
}

/** Resolves a view to its table. */
export function rowsOf(world: World, data: Data, name: string): readonly Row[] {
  const table = tableOf(world, name);
  const rows = data.get(table.view?.base ?? name) ?? [];
  const { view } = table;
  return view === null ? rows : rows.filter((row) => row[view.where] !== null);
}

export function kindOf(table: Table, ref: Ref): Kind {
  if ('column' in ref) return columnOf(table, ref.column).kind;
  const computed = table.computed.find((each) => each.name === ref.computed);
  if (computed?.result !== 'scalar') throw new Error(`no scalar computed field ${table.name}.${ref.computed}`);
  return computed.kind;
}

export const NUMERIC: ReadonlySet<Kind> = new Set<Kind>(['int', 'bigint', 'numeric', 'float8']);
export const ORDERED: ReadonlySet<Kind> = new Set<Kind>(['int', 'bigint', 'numeric', 'float8', 'text', 'bool', 'ints', 'enum']);
export const COMPARABLE: ReadonlySet<Kind> = new Set<Kind>(['int', 'bigint', 'numeric', 'float8', 'text']);

export const SCALARS: Readonly<Record<Kind, string>> = {
  int: 'Int',
  bigint: 'bigint',
  numeric: 'numeric',
  float8: 'float8',
  text: 'String',
  bool: 'Boolean',
  jsonb: 'jsonb',
  ints: '[Int!]',
  enum: `${ENUM_TABLE}_enum`,
};

/** The scalar of a type. BigQuery and SQLite have one integer type. */
export function scalarOf({ database }: Pick<World, 'database'>, kind: Kind): string {
  return (database === 'dwh' || database === 'sqlite') && kind === 'int' ? SCALARS.bigint : SCALARS[kind];
}

/** The aggregates of a database. SQLite has no variances and correlations. */
export function aggregatesOf({ database }: Pick<World, 'database'>, names: readonly string[]): readonly string[] {
  return database === 'sqlite' ? names.filter((name) => !/^(?:std|var|corr|covar)/.test(name)) : names;
}

/** The given rows that the function of a table returns; it reads the cells without permissions. */
export function foundBy(table: Table, rows: readonly Row[], low: number): readonly Row[] {
  const { search } = table;
  return search === null ? [] : rows.filter((row) => ((row[search.column] ?? 0) as number) >= low);
}

export const TRUE: Exp = { k: 'and', items: [] };
