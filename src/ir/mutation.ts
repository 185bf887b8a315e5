/**
 * The meaning of a mutation root field, permissions included. A compiler turns it into statements
 * that run in one transaction, in order; a failed check raises inside the SQL.
 */
import type { CatalogType, QualifiedName } from '../catalog/catalog.ts';
import type { Path } from '../util/path.ts';
import type { BoolExp } from './bool-exp.ts';
import type { InputValidation } from './input-validation.ts';
import type { Field } from './select.ts';
import type { Operand } from './value.ts';

export interface MutationRoot {
  readonly alias: string;
  readonly mutation: Insert | Update | UpdateMany | Delete;
  readonly query?: undefined;
}

/** What the response of a mutation holds, in order; or the row itself (`_one`, `_by_pk`). */
export type MutationOutput =
  | { readonly kind: 'response'; readonly fields: readonly MutationField[] }
  /** The first affected row, or null. */
  | { readonly kind: 'row'; readonly fields: readonly Field[] };

export type MutationField =
  | { readonly kind: 'typename'; readonly alias: string; readonly typeName: string }
  | { readonly kind: 'affected-rows'; readonly alias: string }
  | { readonly kind: 'returning'; readonly alias: string; readonly fields: readonly Field[] };

export interface Insert {
  readonly kind: 'insert';
  readonly table: QualifiedName;
  readonly rows: InsertRows;
  readonly output: MutationOutput;
  /** Where errors of all its statements are reported: `$.selectionSet.insert_author.args.objects`, `.object` for one. */
  readonly path: Path;
  /** See `Contained`; nested tables included. */
  readonly contained: Contained;
}

/**
 * True: the writes change rows of the tables that are named and no others, because these are
 * ordinary tables without triggers and rules (and, for updates and deletes, nobody's foreign key
 * does more than forbid). What `returning` reads from other tables is then the same before and
 * after, which saves a statement. False is always right.
 */
export type Contained = boolean;

/** Rows of one table, with what is inserted before and after each of them. */
export interface InsertRows {
  readonly table: QualifiedName;
  /** Union of the columns of all rows, in a fixed order: presets included, columns that come from nested objects or the parent not. */
  readonly columns: readonly InsertColumn[];
  readonly rows: readonly InsertRow[];
  /** Instead of `rows`: any number of rows that give the same columns and nothing else. */
  readonly uniform?: UniformRows;
  readonly onConflict: OnConflict | null;
  /** Insert permission's check, on the row after the write. */
  readonly check: BoolExp;
  /** Absent: the table has none. */
  readonly key?: RowKey;
  /** Hooks of the permissions; those of nested rows are with them. */
  readonly validations?: readonly InputValidation[];
}

/** Rows as a variable brings them; a plan for them serves any number. */
export interface UniformRows {
  /** By column: the values of all rows (`members`), or one value for all (presets). */
  readonly values: ReadonlyMap<string, Operand>;
}

export interface InsertColumn {
  readonly name: string;
  readonly type: CatalogType;
}

export interface InsertRow {
  /** The row's place: `$.selectionSet.insert_author.args.objects[0]`. */
  readonly path: Path;
  /** By column; an absent column takes its default. Presets are here as well. */
  readonly values: ReadonlyMap<string, Operand>;
  /** Inserted before the row; the `remote` columns of its result fill the `local` ones of the row. */
  readonly before: readonly NestedObject[];
  /** Inserted after it; the `local` columns of the row fill their `remote` ones. */
  readonly after: readonly (NestedObject | NestedArray)[];
}

export interface NestedObject {
  readonly kind: 'object';
  /** Of the relationship, as the request wrote it. */
  readonly name: string;
  /** The place of the relationship: `….args.objects[0].author`. */
  readonly path: Path;
  readonly columns: readonly NestedColumn[];
  /** One row. */
  readonly rows: InsertRows;
}

export interface NestedArray {
  readonly kind: 'array';
  readonly name: string;
  readonly columns: readonly NestedColumn[];
  readonly rows: InsertRows;
}

/** Columns that tell the rows of a table apart, none of them ever null: those of its primary key or of a unique one. */
export type RowKey = readonly InsertColumn[];

/** A column of a row that is filled from one of another row. */
export interface NestedColumn {
  readonly local: string;
  readonly remote: string;
  /** Of the column that the value comes from. */
  readonly type: CatalogType;
}

export interface OnConflict {
  /** Name of the constraint; null: the unique index over `columns`, or any when there are none (then nothing can be updated). */
  readonly constraint: string | null;
  readonly columns?: readonly string[];
  /** The columns of the constraint or index: what tells rows apart. Absent: not known. */
  readonly key?: readonly string[];
  /** Those of `key` that the database counts up where a row has no value. */
  readonly counted?: readonly string[];
  /** Null: do nothing. */
  readonly update: {
    readonly columns: readonly string[];
    /** Update permission's presets. */
    readonly presets: ReadonlyMap<string, Operand>;
    /** Update permission's filter and `where`, on the existing row. */
    readonly where: BoolExp;
    /** Update permission's check, for the rows that were updated. */
    readonly check: BoolExp | null;
  } | null;
}

export interface Update {
  readonly kind: 'update';
  readonly table: QualifiedName;
  /** Update permission's filter and `where` (or the key). */
  readonly where: BoolExp;
  /** Absent: the table has none. */
  readonly key?: RowKey;
  /** The operators and then the presets, which run alone too. Empty: nothing runs. */
  readonly assignments: readonly Assignment[];
  /** Columns that go back to their defaults; none of them is assigned to. */
  readonly defaults?: readonly string[];
  /** Update permission's check, on the row after the write. */
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
  /** Delete permission's filter and `where` (or the key). */
  readonly where: BoolExp;
  /** Absent: the table has none. */
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
