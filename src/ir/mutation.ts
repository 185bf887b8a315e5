/**
 * A mutation root field, permissions included. A compiler turns it into statements that run in one transaction, in order; a failed check
 * raises an error inside the SQL.
 */
import type { CatalogType, QualifiedName } from '../catalog/catalog.ts';
import type { Path } from '../util/path.ts';
import type { BoolExp } from './bool-exp.ts';
import type { InputValidation } from './input-validation.ts';
import type { Field, TypenameField } from './select.ts';
import type { Operand } from './value.ts';

export interface MutationRoot {
  readonly alias: string;
  readonly mutation: Insert | Update | UpdateMany | Delete;
  readonly query?: undefined;
}

/** The fields of the response, in order, or the row itself (`_one`, `_by_pk`). */
export type MutationOutput =
  | { readonly kind: 'response'; readonly fields: readonly MutationField[] }
  /** The first affected row, or null. */
  | { readonly kind: 'row'; readonly fields: readonly Field[] };

export type MutationField =
  | TypenameField
  | { readonly kind: 'affected-rows'; readonly alias: string }
  | { readonly kind: 'returning'; readonly alias: string; readonly fields: readonly Field[] };

export interface Insert {
  readonly kind: 'insert';
  readonly table: QualifiedName;
  readonly rows: InsertRows;
  readonly output: MutationOutput;
  /** Path of errors of all its statements: `$.selectionSet.insert_author.args.objects`, or `.object` for one. */
  readonly path: Path;
  /** Covers nested tables too. */
  readonly contained: Contained;
}

/**
 * True if the writes change rows of the named tables and no others, because these are ordinary tables without triggers and rules (and, for
 * updates and deletes, no foreign key does more than reject). What `returning` reads from other tables is then the same before and after,
 * which saves a statement. False is always safe.
 */
export type Contained = boolean;

/** Rows of one table, and the rows that are inserted before and after each of them. */
export interface InsertRows {
  readonly table: QualifiedName;
  /**
   * Union of the columns of all rows, in a fixed order; includes presets, excludes columns that are filled from nested objects or the
   * parent.
   */
  readonly columns: readonly InsertColumn[];
  readonly rows: readonly InsertRow[];
  /** Replaces `rows`: any number of rows that set the same columns and have no nested rows. */
  readonly uniform?: UniformRows;
  readonly onConflict: OnConflict | null;
  /** The insert permission's check, on the row after the write. */
  readonly check: BoolExp;
  /** Undefined if the table has none. */
  readonly key?: RowKey;
  /** Hooks of the permissions; nested rows have their own. */
  readonly validations?: readonly InputValidation[];
}

/** Rows that a variable holds; a plan for them serves any number. */
export interface UniformRows {
  /** Values by column: those of all rows (`members`), or one value for all (presets). */
  readonly values: ReadonlyMap<string, Operand>;
}

export interface InsertColumn {
  readonly name: string;
  readonly type: CatalogType;
}

export interface InsertRow {
  /** Path of the row: `$.selectionSet.insert_author.args.objects[0]`. */
  readonly path: Path;
  /** Values by column, presets included; absent columns take their defaults. */
  readonly values: ReadonlyMap<string, Operand>;
  /** Inserted before the row; the `remote` columns of its result fill the `local` ones of the row. */
  readonly before: readonly NestedObject[];
  /** Inserted after the row; its `local` columns fill their `remote` ones. */
  readonly after: readonly (NestedObject | NestedArray)[];
}

export interface NestedObject {
  readonly kind: 'object';
  /** Name of the relationship in the request. */
  readonly name: string;
  /** Path of the relationship: `….args.objects[0].author`. */
  readonly path: Path;
  readonly columns: readonly NestedColumn[];
  readonly rows: InsertRows;
}

export interface NestedArray {
  readonly kind: 'array';
  readonly name: string;
  readonly columns: readonly NestedColumn[];
  readonly rows: InsertRows;
}

/** Columns that identify the rows of a table and are never null: those of its primary key or of a unique one. */
export type RowKey = readonly InsertColumn[];

/** A column that is filled from a column of another row. */
export interface NestedColumn {
  readonly local: string;
  readonly remote: string;
  /** Type of the column that provides the value. */
  readonly type: CatalogType;
}

export interface OnConflict {
  /**
   * Name of the constraint. `null` stands for the unique index over `columns`, or for any index if `columns` is absent; then no columns
   * can be updated.
   */
  readonly constraint: string | null;
  readonly columns?: readonly string[];
  /** Columns of the constraint or index, which identify rows. Absent if unknown. */
  readonly key?: readonly string[];
  /** Columns of `key` that the database numbers for rows without a value. */
  readonly autoIncrement?: readonly string[];
  /** `null` leaves existing rows unchanged. */
  readonly update: {
    readonly columns: readonly string[];
    /** The update permission's presets. */
    readonly presets: ReadonlyMap<string, Operand>;
    /** The update permission's filter and `where`, on the existing row. */
    readonly where: BoolExp;
    /** The update permission's check, for updated rows. */
    readonly check: BoolExp | null;
  } | null;
}

export interface Update {
  readonly kind: 'update';
  readonly table: QualifiedName;
  /** The update permission's filter and `where` (or the key). */
  readonly where: BoolExp;
  /** Undefined if the table has none. */
  readonly key?: RowKey;
  /** Operators followed by presets, which are also applied alone. If empty, no statement runs. */
  readonly assignments: readonly Assignment[];
  /** Columns that are reset to their defaults; disjoint from `assignments`. */
  readonly defaults?: readonly string[];
  /** The update permission's check, on the row after the write. */
  readonly check: BoolExp;
  readonly output: MutationOutput;
  readonly contained: Contained;
  readonly validations?: readonly InputValidation[];
}

/** Batches in order; later ones see earlier changes. The result is a list. */
export interface UpdateMany {
  readonly kind: 'update-many';
  readonly updates: readonly Update[];
}

export interface Delete {
  readonly kind: 'delete';
  readonly table: QualifiedName;
  /** The delete permission's filter and `where` (or the key). */
  readonly where: BoolExp;
  /** Undefined if the table has none. */
  readonly key?: RowKey;
  readonly output: MutationOutput;
  readonly contained: Contained;
  readonly validations?: readonly InputValidation[];
}

export interface Assignment {
  readonly column: string;
  readonly type: CatalogType;
  readonly operator: 'set' | 'inc' | 'mul' | 'append' | 'prepend' | 'delete-key' | 'delete-elem' | 'delete-at-path';
  readonly operand: Operand;
}
