/**
 * Result of the introspection of one source. Plain immutable data of the same shape for every kind: a `dwh` dataset or a `dbb` database
 * takes the place of the schema.
 */
export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

/** Returns the key of a name in maps. */
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
  /** Catalog name: `int4`, `text`, `jsonb`, `geometry`, `my_enum`. For an array, the name of its element type. */
  readonly name: string;
  readonly kind: 'base' | 'enum' | 'range' | 'multirange' | 'composite' | 'pseudo';
  /** True for arrays of any number of dimensions. */
  readonly array: boolean;
  /** The column's declared type, if that is a domain over this type. */
  readonly domain?: QualifiedName;
  /** Values of an enumeration, if compiled writes depend on them. */
  readonly members?: readonly string[];
  /** Fractional digits of decimals and timestamps, if compiled statements depend on them. */
  readonly fraction?: number;
  /** Collation of text, if it differs from the database's default. */
  readonly collation?: CatalogCollation;
  /** Comparison operators that the database does not have for the type; includes `order_by` if it cannot sort. Default none. */
  readonly unsupported?: readonly string[];
}

/** Returns true if the database has the comparison operator, or an order (`order_by`), for values of the type. */
export function supports({ unsupported }: CatalogType, operator: string): boolean {
  return unsupported?.includes(operator) !== true;
}

export interface CatalogCollation {
  /** Identity of the collation, for comparison. */
  readonly id: number;
  /** Name, if statements have to name the collation. */
  readonly name?: string;
  /** False if texts that differ in their bytes may be equal. */
  readonly deterministic: boolean;
}

export interface CatalogColumn {
  readonly name: string;
  readonly type: CatalogType;
  /** False if rows that are read from the table never have null here. */
  readonly nullable: boolean;
  readonly hasDefault: boolean;
  /** `generated always as (…) stored`: cannot be written. */
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
  /** True if the key is `not valid` or not enforced, so that rows may refer to missing rows. */
  readonly unvalidated?: boolean;
}

export type CatalogTableKind = 'table' | 'partitioned-table' | 'view' | 'materialized-view' | 'foreign-table';

export interface CatalogTable {
  /** Stable across renames (the OID on PostgreSQL). */
  readonly id: number;
  readonly name: QualifiedName;
  readonly kind: CatalogTableKind;
  /** True for a child of a partitioned table: it can be tracked, but is not listed for tracking. */
  readonly partition?: boolean;
  readonly comment: string | null;
  /** Ordered by position. */
  readonly columns: readonly CatalogColumn[];
  readonly primaryKey: CatalogKey | null;
  /** Without the primary key. */
  readonly uniqueConstraints: readonly CatalogKey[];
  /** Names of all other constraints (check, exclusion). */
  readonly otherConstraints: readonly string[];
  readonly foreignKeys: readonly CatalogForeignKey[];
  readonly insertable: boolean;
  readonly updatable: boolean;
  readonly deletable: boolean;
  /**
   * True for an ordinary table outside any inheritance, without rules and row policies: reading it reads its own rows only. Absent if
   * unknown.
   */
  readonly stored?: boolean;
  /**
   * True if repeated reads in one database snapshot return the same rows: neither the table nor its parts are views or foreign tables, or
   * have rules or row policies. Absent if unknown.
   */
  readonly snapshotBound?: boolean;
  /** True if policies may hide rows from the role of the connection. */
  readonly rowSecurity?: boolean;
  /**
   * True if reading the table also reads rows of tables that inherit from it, which need not respect its keys. Never set for partitioned
   * tables.
   */
  readonly inherited?: boolean;
  /** Events that may change other rows too, through triggers, rules or cascading foreign keys. Absent if unknown. */
  readonly sideEffects?: Readonly<Record<WriteEvent, boolean>>;
  /** Undefined for views, and for kinds with a single server. */
  readonly distribution?: CatalogDistribution;
}

export type WriteEvent = 'insert' | 'update' | 'delete';

/** Placement of a table's rows in a cluster of servers. Tables of one group store rows with the same distribution value together. */
export type CatalogDistribution =
  /**
   * Each row on the server that the value of `column` maps to; that value is never null and never changes. `null`: all rows on one server.
   */
  | { readonly kind: 'distributed'; readonly column: string | null; readonly group: number }
  /** All rows on one server, together with all tables of the schema. */
  | { readonly kind: 'schema'; readonly group: number }
  /** All rows on every server. */
  | { readonly kind: 'reference' }
  /** All rows on the server that receives the statement. */
  | { readonly kind: 'local' };

/** Returns the column whose value decides on which server a row is. */
export function distributionColumn({ distribution }: Pick<CatalogTable, 'distribution'>): string | null {
  return distribution?.kind === 'distributed' ? distribution.column : null;
}

/** Returns true if writes to the table are known to change its own rows only: the `contained` of a mutation. */
export function isContained(table: CatalogTable, event: WriteEvent): boolean {
  return table.sideEffects?.[event] === false;
}

export interface CatalogFunctionArgument {
  /** Empty if unnamed. */
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
  /** Input arguments (modes i, b and v), in order; trailing ones may have defaults. */
  readonly arguments: readonly CatalogFunctionArgument[];
  readonly returns: CatalogType;
  /** Table whose row type is returned, or null. */
  readonly returnsTable: QualifiedName | null;
  readonly returnsSet: boolean;
  /** `returns table (…)` or out parameters: not the row type of a table. */
  readonly aggregate: boolean;
}

export interface Catalog {
  /** Tables by `nameKey`. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  /** Overloads by `nameKey`. No aggregates or procedures. */
  readonly functions: ReadonlyMap<string, readonly CatalogFunction[]>;
  /** Server version as a number, such as 150018. */
  readonly version: number;
  /** Schema of tables that are named without one. */
  readonly unnamedSchema?: string;
}

/** Tables and functions to introspect; undefined means all. */
export interface CatalogScope {
  readonly tables?: readonly QualifiedName[];
  readonly functions?: readonly QualifiedName[];
}

/** Basic facts about a table, without its columns and keys. */
export interface TableOverview {
  readonly name: QualifiedName;
  readonly kind: CatalogTableKind;
  readonly comment: string | null;
  /** The database's latest estimate; `null` if it has none. */
  readonly estimatedRows: number | null;
  /** Definitions of defaults by column, as SQL; only if the tables were named. */
  readonly defaults: ReadonlyMap<string, string>;
  /** Values that an enum type or a check constraint allows, by column; only if the tables were named. */
  readonly choices?: ReadonlyMap<string, readonly string[]>;
  readonly distribution?: CatalogDistribution;
}
