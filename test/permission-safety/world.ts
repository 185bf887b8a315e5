/** What a random case is made of: tables with their data, the rules of roles, and conditions. */
import type { Json } from '../../src/util/json.ts';

export type Kind = 'int' | 'bigint' | 'numeric' | 'float8' | 'text' | 'bool' | 'jsonb' | 'ints' | 'enum';

/** Numbers are small multiples of a quarter, so that doubles hold them and their sums exactly. */
export type Value = null | number | string | boolean | JsonbValue | IntsValue;
export interface JsonbValue {
  readonly json: Json;
}

/** An array of integers, none of them null. */
export interface IntsValue {
  readonly ints: readonly number[];
}

/** The table whose rows are the values of the kind `enum`; nobody has a permission on it. */
export const ENUM_TABLE = 'color';
export const ENUM_VALUES: readonly string[] = ['blue', 'green', 'red'];

export type Row = Readonly<Record<string, Value>>;
/** Rows by table; `id` is unique in each. */
export type Data = ReadonlyMap<string, readonly Row[]>;

export interface Column {
  readonly name: string;
  readonly kind: Kind;
  readonly nullable: boolean;
  /** The table whose `id` it refers to. */
  readonly references: string | null;
}

export interface Relationship {
  readonly name: string;
  readonly kind: 'object' | 'array';
  readonly target: string;
  readonly local: string;
  readonly remote: string;
  /** Table and column of the foreign key behind it; null: columns are mapped by hand. */
  readonly foreignKey: { readonly table: string; readonly column: string } | null;
}

export type Computed = ScalarComputed | TableComputed;

export interface ScalarComputed {
  readonly result: 'scalar';
  readonly name: string;
  readonly kind: Kind;
  /** A further argument `more`, with the default 0. */
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
  /** Null for a view, and where keys mean nothing. */
  readonly primaryKey: readonly string[] | null;
  /** A view shows the columns of `base` in rows where `where` is not null. */
  readonly view: { readonly base: string; readonly where: string } | null;
  readonly relationships: readonly Relationship[];
  readonly computed: readonly Computed[];
  /** The function `find_<table>(low integer default 0)`: its rows whose column is at least that, 0 for null. */
  readonly search: { readonly column: string } | null;
}

/** What stands left of a comparison. */
export type Ref = { readonly column: string } | { readonly computed: string };

export type Operand = { readonly value: Value } | { readonly values: readonly Value[] } | { readonly session: string };

export type Exp =
  | { readonly k: 'and' | 'or'; readonly items: readonly Exp[] }
  | { readonly k: 'not'; readonly item: Exp }
  /** `cast`: the text of a jsonb value is compared. */
  | { readonly k: 'compare'; readonly ref: Ref; readonly operator: string; readonly operand: Operand; readonly cast: boolean }
  | { readonly k: 'null'; readonly ref: Ref; readonly isNull: boolean }
  /** Over a relationship or a table computed field. */
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
  // in rules only
  | { readonly k: 'exists'; readonly table: string; readonly item: Exp }
  | { readonly k: 'columns'; readonly column: string; readonly operator: string; readonly other: string; readonly root: boolean };

export interface Permission {
  readonly columns: readonly string[];
  readonly computed: readonly string[];
  readonly filter: Exp;
  readonly limit: number | null;
  readonly aggregations: boolean;
}

/** The kind of database that the world is made for. */
export type Database = 'pg' | 'dbb' | 'dbc' | 'dwh' | 'sqlite';

export interface World {
  readonly database: Database;
  readonly tables: readonly Table[];
  readonly data: Data;
  /** By role, then by table. */
  readonly permissions: ReadonlyMap<string, ReadonlyMap<string, Permission>>;
  readonly inherited: ReadonlyMap<string, readonly string[]>;
}

/** By the name after `x-svc-`. */
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

/** A view's rows come from its table. */
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

/** The scalar of a kind. BigQuery and SQLite have one type of integers. */
export function scalarOf({ database }: Pick<World, 'database'>, kind: Kind): string {
  return (database === 'dwh' || database === 'sqlite') && kind === 'int' ? SCALARS.bigint : SCALARS[kind];
}

/** The aggregates that a database has. SQLite has no variances and correlations. */
export function aggregatesOf({ database }: Pick<World, 'database'>, names: readonly string[]): readonly string[] {
  return database === 'sqlite' ? names.filter((name) => !/^(?:std|var|corr|covar)/.test(name)) : names;
}

/** Rows that the function of a table finds, of those given; it looks at the cells themselves. */
export function foundBy(table: Table, rows: readonly Row[], low: number): readonly Row[] {
  const { search } = table;
  return search === null ? [] : rows.filter((row) => ((row[search.column] ?? 0) as number) >= low);
}

export const TRUE: Exp = { k: 'and', items: [] };
