/**
 * What introspection found in one source. Plain immutable data, the same shape for every kind:
 * a `dwh` dataset and a `dbb` database play the part of the schema.
 */
export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

/** The key of a name in maps. */
export function nameKey(name: QualifiedName): string {
  return `${name.schema}\u0000${name.name}`;
}

export function sameName(a: QualifiedName, b: QualifiedName): boolean {
  return a.schema === b.schema && a.name === b.name;
}

/** A type of the database. A domain is reported as its base type plus `domain`. */
export interface CatalogType {
  /** Schema of the type, `pg_catalog` for built-in ones. */
  readonly schema: string;
  /** Catalog name: `int4`, `text`, `jsonb`, `geometry`, `my_enum`. Of an array: that of its element. */
  readonly name: string;
  readonly kind: 'base' | 'enum' | 'range' | 'multirange' | 'composite' | 'pseudo';
  /** An array of any number of dimensions. */
  readonly array: boolean;
  /** Set when the column's declared type is a domain over this one. */
  readonly domain?: QualifiedName;
  /** Of an enumeration: its values, where those who write have to know them. */
  readonly members?: readonly string[];
  /** Of decimals and moments: how many digits behind the point are kept, where statements have to know. */
  readonly fraction?: number;
  /** How its texts are compared, where that is not the database's default. */
  readonly collation?: CatalogCollation;
  /** Comparison operators that the database does not have for its values, and `order_by` if it cannot sort them. Absent: none. */
  readonly lacks?: readonly string[];
}

/** Whether the database has the comparison operator, or an order (`order_by`), for values of the type. */
export function supports({ lacks }: CatalogType, operator: string): boolean {
  return lacks?.includes(operator) !== true;
}

export interface CatalogCollation {
  /** Of two collations, whether they are the same one. */
  readonly id: number;
  /** Where statements have to name it. */
  readonly name?: string;
  /** False: texts that are not the same bytes may be equal. */
  readonly deterministic: boolean;
}

export interface CatalogColumn {
  readonly name: string;
  readonly type: CatalogType;
  /** False: no row that is read from the table has null here. */
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** `generated always as (…) stored`: never written. */
  readonly generated: boolean;
  readonly identity: false | 'always' | 'by-default';
  readonly comment: string | null;
  /** attnum: stable across renames. */
  readonly position: number;
}

export interface CatalogKey {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface CatalogForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: QualifiedName;
  readonly targetColumns: readonly string[];
  /** `not valid`, or not enforced: rows may point to nothing. */
  readonly unvalidated?: true;
}

export type CatalogTableKind = 'table' | 'partitioned-table' | 'view' | 'materialized-view' | 'foreign-table';

export interface CatalogTable {
  /** Stable across renames (the OID on PostgreSQL). */
  readonly id: number;
  readonly name: QualifiedName;
  readonly kind: CatalogTableKind;
  /** A child of a partitioned table: may be tracked, but is not offered. */
  readonly partition?: boolean;
  readonly comment: string | null;
  /** In order of position. */
  readonly columns: readonly CatalogColumn[];
  readonly primaryKey: CatalogKey | null;
  /** Unique constraints besides the primary key. */
  readonly uniqueConstraints: readonly CatalogKey[];
  /** Names of all other constraints (check, exclusion); foreign keys are below. */
  readonly otherConstraints: readonly string[];
  readonly foreignKeys: readonly CatalogForeignKey[];
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /** An ordinary table outside any inheritance, without rules and row policies: reading it reads its own rows only. Absent: not known. */
  readonly stored?: boolean;
  /** The same snapshot of the database shows the same rows of it and of its parts: no views, foreign tables, rules and row policies. Absent: not known. */
  readonly snapshotBound?: boolean;
  /** Policies may hide its rows from the role of the connection. */
  readonly rowSecurity?: true;
  /** Reading it reads rows of others too, which inherit from it and need not keep its keys. Never set for partitioned tables. */
  readonly inherited?: true;
  /** Whether writing its rows may change any others: by triggers, rules, foreign keys that cascade. Absent: not known. */
  readonly sideEffects?: Readonly<Record<WriteEvent, boolean>>;
  /** Absent: a view, or its kind of database is one server. */
  readonly distribution?: CatalogDistribution;
}

export type WriteEvent = 'insert' | 'update' | 'delete';

/** Where the rows of a table are in a cluster of servers. Tables of one group whose rows lie by the same value lie together. */
export type CatalogDistribution =
  /** Each on the server that the value of the column leads to, which is never null and never changes; null: all on one server. */
  | { readonly kind: 'distributed'; readonly column: string | null; readonly group: number }
  /** All on one server, with those of all tables of the schema. */
  | { readonly kind: 'schema'; readonly group: number }
  /** All on every server. */
  | { readonly kind: 'reference' }
  /** All on the server that is asked. */
  | { readonly kind: 'local' };

/** The column whose value decides on which server a row is. */
export function distributionColumn({ distribution }: Pick<CatalogTable, 'distribution'>): string | null {
  return distribution?.kind === 'distributed' ? distribution.column : null;
}

/** What `contained` of a mutation says: writes to the table are known to change its own rows only. */
export function isContained(table: CatalogTable, event: WriteEvent): boolean {
  return table.sideEffects?.[event] === false;
}

export interface CatalogFunctionArgument {
  /** Empty when unnamed. */
  readonly name: string;
  readonly type: CatalogType;
  readonly hasDefault: boolean;
}

export interface CatalogFunction {
  readonly id: number;
  readonly name: QualifiedName;
  readonly comment: string | null;
  readonly volatility: 'immutable' | 'stable' | 'volatile';
  readonly variadic: boolean;
  /** Input arguments (modes i, b and v), in order; the trailing ones may have defaults. */
  readonly arguments: readonly CatalogFunctionArgument[];
  readonly returns: CatalogType;
  /** The table whose row type is returned, or null. */
  readonly returnsTable: QualifiedName | null;
  readonly returnsSet: boolean;
  /** `returns table (…)` and out parameters: not the row type of a table. */
  readonly aggregate: boolean;
}

export interface Catalog {
  /** By `nameKey`. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** By `nameKey`; several entries are overloads. Functions only, no aggregates or procedures. */
  readonly functions: ReadonlyMap<string, readonly CatalogFunction[]>;
  /** Server version as a number, such as 150018. */
  readonly version: number;
  /** What the database calls the schema of tables that are named without one. */
  readonly unnamedSchema?: string;
}

/** Tables and functions that a caller is interested in; undefined is all. */
export interface CatalogScope {
  readonly tables?: readonly QualifiedName[];
  readonly functions?: readonly QualifiedName[];
}

/** What is told of a table without reading its columns and keys. */
export interface SurveyedTable {
  readonly name: QualifiedName;
  readonly kind: CatalogTableKind;
  readonly comment: string | null;
  /** As the database last estimated it; null: it does not say. */
  readonly estimatedRows: number | null;
  /** By column, as SQL; only where the tables were named. */
  readonly defaults: ReadonlyMap<string, string>;
  /** As that of a table. */
  readonly distribution?: CatalogDistribution;
}
