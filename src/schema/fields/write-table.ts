/**
 * A tracked table as one role may write to it, and the types generated for it. Like `role-table.ts`, the interface through which builders
 * refer to each other.
 */
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Assignment, InsertRows, MutationOutput, OnConflict } from '../../ir/mutation.ts';
import type { ColumnInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { CollectedField, InputValue, InputField, InputObjectType, ObjectType } from '../../graphql-engine/types.ts';
import type { BoolExpType, RoleTable } from './role-table.ts';
import type { SourceContext } from './source-context.ts';
import type { DeleteAccess, InsertAccess, UpdateAccess } from './write-access.ts';
import type { ValuePlace } from './value-place.ts';

/** A column that the role may set. */
export interface WriteColumn {
  readonly info: ColumnInfo;
  readonly name: string;
  readonly place: ValuePlace;
}

/** `T_insert_input`. */
export interface InsertInput {
  readonly type: InputObjectType;
  /**
   * @param items one input object per row
   * @param determined columns that the parent row fills
   * @param alone true if the request inserts no other rows at this place of the tree
   * @throws SvcError
   */
  rows(items: readonly InputValue[], onConflict: InputValue | null, determined: ReadonlySet<string>, alone: boolean): InsertRows;
  /** Returns the rows of a list: uniform rows that are alone are read column by column, for any number of rows. */
  rowsOfList(list: InputValue, onConflict: InputValue | null, determined: ReadonlySet<string>, alone: boolean): InsertRows;
}

/** `T_obj_rel_insert_input`, `T_arr_rel_insert_input`. */
export interface NestedInput {
  readonly type: InputObjectType;
  /** Returns null if there is nothing to insert. */
  rows(input: InputValue, determined: ReadonlySet<string>, alone: boolean): InsertRows | null;
}

/** `T_on_conflict`. */
export interface OnConflictType {
  readonly type: InputObjectType;
  /** Returns the same object for equal inputs without a condition. */
  clause(input: InputValue): OnConflict;
  /** Returns true for a clause without a condition. */
  isCommon(clause: OnConflict): boolean;
}

/** `_set`, `_inc` and so on, if a column supports them. */
export interface UpdateOperators {
  readonly fields: ReadonlyMap<string, InputField>;
  /**
   * Returns the assignments of the operators, including presets; empty if there are none.
   * @param get returns the operator's input, or null if absent
   * @param at `$.selectionSet.update_author.args`
   */
  assignments(get: (name: string) => InputValue | null, at: CollectedField['path']): readonly Assignment[];
}

/** `T_mutation_response`. */
export interface ResponseType {
  readonly type: ObjectType;
  output(field: CollectedField): MutationOutput;
}

export interface WriteTable {
  readonly source: SourceContext;
  readonly info: TableInfo;
  /** The table for reading; null if the role may not select. */
  readonly selected: RoleTable | null;
  /** The table for conditions on its rows: without fields if the role may not select. */
  readonly conditionTable: () => RoleTable;
  /** `T_bool_exp`, without columns if the role may not select. */
  readonly boolExp: () => BoolExpType;
  readonly insert: InsertAccess | null;
  readonly update: UpdateAccess | null;
  readonly delete: DeleteAccess | null;
  /** True if input types of other tables name its rows. Without `insert`, using them is rejected. */
  readonly isNestable: boolean;
  /** Columns by GraphQL name, in catalog order; empty without the permission. */
  readonly insertColumns: () => ReadonlyMap<string, WriteColumn>;
  readonly updateColumns: () => ReadonlyMap<string, WriteColumn>;
  readonly insertInput: () => InsertInput;
  readonly objectInput: () => NestedInput;
  readonly arrayInput: () => NestedInput;
  /** Returns null if the table has no constraint that a row can violate as a duplicate. */
  readonly onConflict: () => OnConflictType | null;
  readonly operators: () => UpdateOperators;
  readonly response: () => ResponseType;
  /** Returns another table of the source, regardless of the role's permissions. */
  related(name: QualifiedName): WriteTable | null;
}
