/** Rows that an earlier statement gave, found again by their keys. */
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { InsertColumn, RowKey } from '../../../../ir/mutation.ts';
import { identifier, join, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../../sql/row.ts';
import { familyOf } from '../../families.ts';
import { collatedSql } from '../collation.ts';
import type { Context } from '../context.ts';
import { listType } from '../operand.ts';
import { qualified } from '../relation.ts';
import { keptSql, keptTextSql } from './values.ts';

/** Null where rows cannot be found again: there is no key, or a text does not tell its values exactly. */
export function usableKey(key: RowKey | undefined): RowKey | null {
  return key?.every(({ type }) => !['float', 'double', 'geometry', 'json', 'other'].includes(familyOf(type).kind)) === true ? key : null;
}

/** A JSON array of texts. @param values other values than those of the row */
export function keyCellSql(key: RowKey, row: Row, values?: ReadonlyMap<string, Sql>): Sql {
  return sql`json_array(${join(
    key.map(({ name, type }) => keptTextSql(values?.get(name) ?? row.column(name), type)),
    sql`, `,
  )})`;
}

export interface FoundRows {
  /** An item of a from clause that begins with the keys. */
  readonly from: Sql;
  readonly alias: Sql;
  readonly row: Row;
  /** To sort by: the order of the keys. */
  readonly position: Sql;
}

/** The rows whose keys are the cells, in an item of a from clause; each key once. */
export function rowsOfKeys(
  context: Context,
  table: QualifiedName,
  key: RowKey,
  { statements, cell }: { readonly statements: readonly number[]; readonly cell: number },
): FoundRows {
  const [keys, alias] = [context.alias(), context.alias()];
  const row = aliasRow(alias);
  const list = keptSql({ kind: 'kept', statements, cell, row: null });
  const columns = key.map((column, i) => sql`${partName(i)} ${partType(column)} path ${string(`$[${i}]`)}`);
  const conditions = key.map((column, i) => sql`${row.column(column.name)} = ${partValue(column, sql`${keys}.${partName(i)}`)}`);
  const items = sql`json_table(${list}, '$[*]' columns (\`i\` for ordinality, ${join(columns, sql`, `)})) as ${keys}`;
  return {
    from: sql`${items} straight_join ${qualified(table)} as ${alias} on ${join(conditions, sql` and `)}`,
    alias,
    row,
    position: sql`${keys}.\`i\``,
  };
}

function partName(index: number): Sql {
  return identifier(`k${index}`);
}

function partType({ type }: InsertColumn): Sql {
  const { kind } = familyOf(type);
  // That of a truth value is its number.
  return kind === 'boolean' ? sql`bigint` : kind === 'text' || kind === 'bytes' ? sql`longtext character set utf8mb4` : listType(type);
}

/** Two texts are the same key where the collation of the column says so: in no other one. */
function partValue({ type }: InsertColumn, part: Sql): Sql {
  const { kind } = familyOf(type);
  if (kind === 'bytes') return sql`from_base64(${part})`;
  return kind === 'text' ? collatedSql(part, type) : part;
}
