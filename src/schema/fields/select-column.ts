/** `T_select_column`: the columns that a role sees, as an enum. */
import { type EnumSchemaType, enumType } from '../../graphql-engine/types.ts';
import { quoted } from './descriptions.ts';
import type { RoleColumn, RoleTable } from './role-table.ts';

/** Returns an enum of some columns of a table; the value of an enum value is the column's GraphQL name. */
export function columnEnum(
  table: RoleTable,
  name: string,
  description: string,
  accept: (column: RoleColumn) => boolean,
): EnumSchemaType | null {
  const columns = [...table.columns.values()].filter(accept);
  if (columns.length === 0) return null;
  const values = () => columns.map((column) => ({ name: column.name, description: 'column name', value: column.name }));
  return { ...enumType(name, description, values), derivedFrom: table.info };
}

export function selectColumnEnum(table: RoleTable): EnumSchemaType | null {
  const { source, info } = table;
  return columnEnum(
    table,
    source.tableType(info, 'select_column'),
    `select columns of table ${quoted(source.info, info.name)}`,
    () => true,
  );
}
