/** Rows by their primary key. */
import type { BoolExp } from '../../ir/bool-exp.ts';
import type { TableInfo } from '../../schema-cache/schema-cache.ts';
import type { InputValue, InputField } from '../../graphql-engine/types.ts';
import { commentOr } from './descriptions.ts';
import type { RoleColumn, RoleTable, TableAccess } from './role-table.ts';

/** Returns true if there is a key and the role may select all of its columns. */
export function hasKey(table: TableInfo, access: TableAccess): boolean {
  const selectable = (column: string): boolean => table.columns.has(column) && (access.columns?.has(column) ?? true);
  return table.catalog.primaryKey?.columns.every(selectable) ?? false;
}

/** Returns the columns of the key in its order; null if the role does not have all of them. */
export function primaryKeyColumns(table: RoleTable): readonly RoleColumn[] | null {
  const key = table.info.catalog.primaryKey;
  if (key === null) return null;
  const byColumn = new Map([...table.columns.values()].map((column) => [column.info.name, column]));
  const columns = key.columns.flatMap((column) => byColumn.get(column) ?? []);
  return columns.length === key.columns.length ? columns : null;
}

/** Returns one required argument or input field per column. */
export function keyFields(columns: readonly RoleColumn[]): ReadonlyMap<string, InputField> {
  return new Map(
    columns.map((column): [string, InputField] => [
      column.name,
      { name: column.name, description: commentOr(column.info.comment, column.info.catalog.comment), type: column.place.input(true) },
    ]),
  );
}

/** Returns the condition that a column of the key has the value. */
export function keyCondition(column: RoleColumn, input: InputValue): BoolExp {
  return {
    kind: 'compare',
    left: column.read,
    operator: '_eq',
    argument: { kind: 'operand', operand: { value: input.value(), type: column.place.type, list: false } },
    nullSafe: false,
  };
}
