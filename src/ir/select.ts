import type { CatalogType } from '../catalog/catalog.ts';
import type { AggregateComparison, BoolExp, Read } from './bool-exp.ts';
import type { Join, Relation } from './relation.ts';
import type { Operand, Value } from './value.ts';

/** One root field of an operation. `alias` is the response key, unique within an operation. */
export interface SelectRoot {
  readonly alias: string;
  readonly query: SelectQuery;
  /** Read that orders the rows of a stream. `query` is then a list of rows after a `CursorValue`, ordered by this read only, with ties. */
  readonly cursor?: Read;
  /** Distinguishes it from a `MutationRoot`. */
  readonly mutation?: undefined;
}

export type SelectQuery = RowsQuery | AggregateQuery | ConnectionQuery;

/** For kinds without connections, whose schemas have none. */
export function withoutConnection(query: SelectQuery): RowsQuery | AggregateQuery {
  if (query.kind === 'connection') throw new Error('invariant: the kind has no connections');
  return query;
}

/**
 * Rows as a JSON array (`list`), or the first row or null (`single`). Steps in order: permission filter and where, distinct on, order by,
 * offset, limit.
 */
export interface RowsQuery {
  readonly kind: 'rows';
  readonly shape: 'list' | 'single';
  readonly from: Relation;
  readonly rows: RowSet;
  readonly fields: readonly Field[];
}

/** An object with aggregates and `nodes`. */
export interface AggregateQuery {
  readonly kind: 'aggregate';
  readonly from: Relation;
  readonly rows: RowSet;
  /** Row limit of the permission: applies to `nodes`, not to the aggregates. */
  readonly nodesLimit: number | null;
  readonly fields: readonly AggregateField[];
}

/** A page of rows with their cursors: an object with edges and page info. For kinds with the capability `connections`. */
export interface ConnectionQuery {
  readonly kind: 'connection';
  readonly from: Relation;
  /** Without limit and offset, in an order without ties. */
  readonly rows: RowSet;
  /** One key for each item of the order. A cursor is a JSON object with their values. */
  readonly keys: readonly CursorKey[];
  /** Maximum number of edges. */
  readonly size: number | null;
  /** If true, the page is at the end of the rows. */
  readonly isBackward: boolean;
  readonly cursor: Cursor | null;
  readonly fields: readonly ConnectionField[];
}

export interface CursorKey {
  /** Keys in the nested objects of the cursor. */
  readonly path: readonly string[];
  readonly type: CatalogType;
}

/** A row, which need not exist, after or before which the page is. */
export interface Cursor {
  readonly side: 'after' | 'before';
  /** A value for each key. `null` is SQL NULL: plans are made per set of nulls. */
  readonly values: readonly (Operand | null)[];
}

export type ConnectionField =
  | TypenameField
  | { readonly kind: 'edges'; readonly alias: string; readonly fields: readonly EdgeField[] }
  | { readonly kind: 'page-info'; readonly alias: string; readonly fields: readonly PageInfoField[] };

export type EdgeField =
  | TypenameField
  | { readonly kind: 'cursor'; readonly alias: string }
  | { readonly kind: 'node'; readonly alias: string; readonly fields: readonly Field[] };

export type PageInfoField =
  | TypenameField
  | { readonly kind: 'has-next' | 'has-previous' | 'start-cursor' | 'end-cursor'; readonly alias: string };

export interface RowSet {
  /** Permission filter and `where`. */
  readonly where: BoolExp;
  readonly distinctOn: readonly Read[];
  readonly orderBy: readonly OrderBy[];
  /** A number, not a reference: plans are made per limit, because a literal helps the database to plan. */
  readonly limit: number | null;
  /** If true, rows that tie with the last row within the limit are returned too. */
  readonly ties?: boolean;
  readonly offset: Value | null;
}

export interface OrderBy<Term = OrderTerm> {
  readonly term: Term;
  readonly direction: 'asc' | 'desc';
  readonly nulls: 'first' | 'last';
}

export type OrderTerm =
  | { readonly kind: 'read'; readonly read: Read }
  /** Through an object relationship; `where` is the target's permission filter. */
  | {
      readonly kind: 'related';
      readonly join: Join;
      readonly from: Relation;
      readonly where: BoolExp;
      readonly term: OrderTerm;
    }
  /** Aggregate over an array relationship or a table computed field (`join` null: `from` names the row). */
  | {
      readonly kind: 'related-aggregate';
      readonly join: Join | null;
      readonly from: Relation;
      readonly where: BoolExp;
      readonly function: string;
      readonly arguments: readonly Read[];
    };

/** Name of the type of an object. */
export interface TypenameField {
  readonly kind: 'typename';
  readonly alias: string;
  readonly typeName: string;
}

/** One key of a row's JSON object. Aliases are unique within an object. */
export type Field =
  | {
      readonly kind: 'read';
      readonly alias: string;
      readonly read: Read;
      readonly jsonPath: Value | null;
      /** If true, printed in capitals: a value of an enum table, if the naming convention requires it. */
      readonly upperCase?: boolean;
    }
  | TypenameField
  /** A relationship (`join` set) or a table computed field (`join` null, `query.from` names the row). */
  | {
      readonly kind: 'related';
      readonly alias: string;
      readonly join: Join | null;
      readonly query: SelectQuery;
    }
  /** Relay's id of the row: base64 of a JSON list with the names of the table and the values of its primary key. */
  | { readonly kind: 'node-id'; readonly alias: string; readonly table: readonly (string | number)[]; readonly keys: readonly Read[] }
  /** Placeholder of the remote join with this index; its key consists of the texts of these reads. */
  | { readonly kind: 'joined'; readonly alias: string; readonly join: number; readonly keys: readonly Read[] };

export type AggregateField =
  | TypenameField
  | { readonly kind: 'nodes'; readonly alias: string; readonly fields: readonly Field[] }
  | { readonly kind: 'aggregate'; readonly alias: string; readonly fields: readonly AggregateItem[] }
  | GroupsField;

/**
 * Groups of the rows, as a list of objects. Rows for which all parts are equal are one group; nulls are equal to each other. Without parts,
 * all rows are one group, which exists even without rows. Steps in order: group, having, order by, offset, limit. For kinds with the capability
 * `groups`.
 */
export interface GroupsField {
  readonly kind: 'groups';
  readonly alias: string;
  readonly related: readonly GroupedRow[];
  readonly parts: readonly GroupPart[];
  /** Only groups for which it is true; `null` for all. */
  readonly having: Having | null;
  /** Contains all parts, so that the order is total. */
  readonly orderBy: readonly OrderBy<GroupTerm>[];
  readonly limit: number | null;
  readonly offset: Value | null;
  readonly fields: readonly GroupField[];
}

/** The related row of an object relationship, to which parts refer by its index. */
export interface GroupedRow {
  /** Index of the row to which it is related; `null` for the grouped row. */
  readonly parent: number | null;
  readonly join: Join;
  readonly from: Relation;
  /** The target's permission filter. */
  readonly where: BoolExp;
}

/** A value by which rows are grouped. `row` is an index of `related`, or `null` for the grouped row. */
export type GroupPart =
  | {
      readonly kind: 'read';
      readonly row: number | null;
      readonly read: Read;
      /** The part is the bucket of the value, or a part of it. */
      readonly bucket?: TimeBucket;
      /** Type of the part. */
      readonly type: CatalogType;
    }
  /** True if there is a related row, null if there is none. */
  | { readonly kind: 'exists'; readonly row: number };

/**
 * `time`: the first moment of the period that contains the value, of the type of the value. Periods of several units begin at multiples
 * of them, from midnight or from the year 0; days and weeks are counted from Monday 2000-01-03. `zone`: whose clock shows the periods;
 * `null` for types without one.
 */
export type TimeBucket =
  | { readonly kind: 'time'; readonly unit: TimeUnit; readonly every: number; readonly zone: Value | null }
  | { readonly kind: 'time-part'; readonly part: TimePart; readonly zone: Value | null };

export const TIME_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** `day_of_week`: from 1, Monday, to 7. `week`: the number of ISO 8601. */
export const TIME_PARTS = [
  ...(['year', 'quarter', 'month', 'week'] as const),
  ...(['day_of_month', 'day_of_week', 'day_of_year', 'hour', 'minute'] as const),
] as const;
export type TimePart = (typeof TIME_PARTS)[number];

/** A condition on the aggregates of a group. */
export type Having =
  | { readonly kind: 'and' | 'or'; readonly items: readonly Having[] }
  | { readonly kind: 'not'; readonly item: Having }
  | {
      readonly kind: 'aggregate';
      readonly function: string;
      readonly arguments: readonly Read[];
      readonly distinct: boolean;
      /** The rows that it aggregates; `null` for all. */
      readonly filter: BoolExp | null;
      /** Type of its result. */
      readonly type: CatalogType;
      readonly predicate: readonly AggregateComparison[];
    };

export type HavingLeaf = Extract<Having, { readonly kind: 'aggregate' }>;

/** Returns true if `holds` is true for one of the aggregates of a condition. */
export function someAggregate(having: Having, holds: (leaf: HavingLeaf) => boolean): boolean {
  if (having.kind === 'aggregate') return holds(having);
  return having.kind === 'not' ? someAggregate(having.item, holds) : having.items.some((item) => someAggregate(item, holds));
}

export type GroupTerm =
  | { readonly kind: 'part'; readonly part: number }
  | { readonly kind: 'aggregate'; readonly function: string; readonly arguments: readonly Read[] };

/** One key of a group's object. */
export type GroupField =
  | TypenameField
  | { readonly kind: 'key'; readonly alias: string; readonly fields: readonly KeyField[] }
  | { readonly kind: 'aggregate'; readonly alias: string; readonly fields: readonly AggregateItem[] }
  | GroupNodes;

/** The rows of a group as a list. */
export interface GroupNodes {
  readonly kind: 'nodes';
  readonly alias: string;
  /** `null`: that of the rows of the query. */
  readonly orderBy: readonly OrderBy[] | null;
  /** Primary key, by which rows are ordered that the order does not separate. */
  readonly ties: readonly Read[];
  readonly limit: number | null;
  readonly offset: Value | null;
  readonly fields: readonly Field[];
}

/** One key of the object with the parts of a group. */
export type KeyField =
  | TypenameField
  /** `upperCase`: see `Field`. */
  | { readonly kind: 'part'; readonly alias: string; readonly part: number; readonly type: CatalogType; readonly upperCase: boolean }
  /** An object, or null if the part, which says whether there is a row, is false. */
  | { readonly kind: 'row'; readonly alias: string; readonly part: number; readonly fields: readonly KeyField[] };

export type AggregateItem =
  | TypenameField
  | { readonly kind: 'count'; readonly alias: string; readonly columns: readonly Read[]; readonly distinct: boolean }
  /** `sum`, `max`, …: an object with one key per read. `resultType` decides how numbers are printed. */
  | {
      readonly kind: 'function';
      readonly alias: string;
      readonly function: string;
      readonly fields: readonly (
        | TypenameField
        | { readonly kind: 'read'; readonly alias: string; readonly read: Read; readonly columnType: CatalogType }
      )[];
    };
