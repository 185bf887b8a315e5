/** Rows that an earlier statement gave, found again by their keys. */
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { InsertColumn, RowKey } from '../../../../ir/mutation.ts';
import { identifier, join, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../shared/row.ts';
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

/** Where the keys of rows are: a cell of earlier statements. */
export interface KeptKeys {
  readonly statements: readonly number[];
  readonly cell: number;
}

/** Whether a row is none of those whose keys are the cells. */
export function isNoneOf(context: Context, key: RowKey, kept: KeptKeys): (row: Row) => Sql {
  return (row) => {
    const { item, conditions } = keysItem(context, key, kept, row);
    return sql`(not exists (select 1 from ${item} where ${conditions}))`;
  };
}

/** The rows whose keys are the cells, in an item of a from clause; each key once. */
export function rowsOfKeys(context: Context, table: QualifiedName, key: RowKey, kept: KeptKeys): FoundRows {
  const alias = context.alias();
  const row = aliasRow(alias);
  const { keys, item, conditions } = keysItem(context, key, kept, row);
  return {
    from: sql`${item} straight_join ${qualified(table)} as ${alias} on ${conditions}`,
    alias,
    row,
    position: sql`${keys}.\`i\``,
  };
}

/** The keys as an item of a from clause, and where a row has one of them. */
function keysItem(context: Context, key: RowKey, { statements, cell }: KeptKeys, row: Row) {
  const keys = context.alias();
  const list = keptSql({ kind: 'kept', statements, cell, row: null });
  const columns = key.map((column, i) => sql`${partName(i)} ${partType(column)} path ${string(`$[${i}]`)}`);
  const conditions = key.map((column, i) => sql`${row.column(column.name)} = ${partValue(column, sql`${keys}.${partName(i)}`)}`);
  const item = sql`json_table(${list}, '$[*]' columns (\`i\` for ordinality, ${join(columns, sql`, `)})) as ${keys}`;
  return { keys, item, conditions: join(conditions, sql` and `) };
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
