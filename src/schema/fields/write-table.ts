/**
 * A tracked table as one role may write to it, and the generated types about that. Like
 * `role-table.ts` it is what the builders know of each other.
 */
import type { QualifiedName } from '../../catalog/catalog.ts';
import type { Assignment, InsertRows, MutationOutput, OnConflict } from '../../ir/mutation.ts';
import type { ColumnInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { CollectedField, Input, InputField, InputObjectType, ObjectType } from '../../graphql-engine/types.ts';
import type { BoolExpType, RoleTable } from './role-table.ts';
import type { SourceContext } from './source-context.ts';
import type { DeleteAccess, InsertAccess, UpdateAccess } from './write-access.ts';
import type { ValuePlace } from './value-place.ts';

/** A column that the role may give values for. */
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
   * @param determined columns that the row above fills
   * @param alone no other rows of the request are inserted at this place of the tree
   * @throws SvcError
   */
  rows(items: readonly Input[], onConflict: Input | null, determined: ReadonlySet<string>, alone: boolean): InsertRows;
  /** The same of a list: rows that are alike and alone are read column by column, whatever their number. */
  listedRows(list: Input, onConflict: Input | null, determined: ReadonlySet<string>, alone: boolean): InsertRows;
}

/** `T_obj_rel_insert_input`, `T_arr_rel_insert_input`. */
export interface NestedInput {
  readonly type: InputObjectType;
  /** Null when there is nothing to insert. */
  rows(input: Input, determined: ReadonlySet<string>, alone: boolean): InsertRows | null;
}

/** `T_on_conflict`. */
export interface OnConflictType {
  readonly type: InputObjectType;
  /** The same object for inputs that say the same and have no condition of their own. */
  clause(input: Input): OnConflict;
  /** Whether a clause is one of those. */
  isCommon(clause: OnConflict): boolean;
}

/** `_set`, `_inc` and so on: those that some column allows. */
export interface UpdateOperators {
  readonly fields: ReadonlyMap<string, InputField>;
  /**
   * What the operators given assign, presets included; empty when they assign nothing.
   * @param get the operator's input, null where it is not given
   * @param at `$.selectionSet.update_author.args`
   */
  assignments(get: (name: string) => Input | null, at: CollectedField['path']): readonly Assignment[];
}

/** `T_mutation_response`. */
export interface ResponseType {
  readonly type: ObjectType;
  output(field: CollectedField): MutationOutput;
}

export interface WriteTable {
  readonly source: SourceContext;
  readonly info: TableInfo;
  /** The table for reading; null when the role may not. */
  readonly selected: RoleTable | null;
  /** The table of conditions on its rows: without any field where the role may not select. */
  readonly conditions: () => RoleTable;
  /** `T_bool_exp`; it has no columns where the role may not select. */
  readonly boolExp: () => BoolExpType;
  readonly insert: InsertAccess | null;
  readonly update: UpdateAccess | null;
  readonly delete: DeleteAccess | null;
  /** Input types of other tables name its rows; without `insert` it only looks so. */
  readonly isNestable: boolean;
  /** By GraphQL name, in catalog order; empty without the permission. */
  readonly insertColumns: () => ReadonlyMap<string, WriteColumn>;
  readonly updateColumns: () => ReadonlyMap<string, WriteColumn>;
  readonly insertInput: () => InsertInput;
  readonly objectInput: () => NestedInput;
  readonly arrayInput: () => NestedInput;
  /** Null when the table has no constraint that a row can conflict with. */
  readonly onConflict: () => OnConflictType | null;
  readonly operators: () => UpdateOperators;
  readonly response: () => ResponseType;
  /** Another table of the source, whatever the role may do with it. */
  related(name: QualifiedName): WriteTable | null;
}
