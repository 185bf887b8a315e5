/** Finds rows of an earlier statement again by their keys. */
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { InsertColumn, RowKey } from '../../../../ir/mutation.ts';
import { identifier, join, string, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../shared/row.ts';
import { familyOf } from '../../families.ts';
import { collatedSql } from '../collation.ts';
import type { Context } from '../context.ts';
import { listType } from '../operand.ts';
import { qualified } from '../relation.ts';
import { transactionLocalSql, columnTextSql } from './values.ts';

/** Returns `null` if rows cannot be found again: there is no key, or texts do not represent its values exactly. */
export function usableKey(key: RowKey | undefined): RowKey | null {
  return key?.every(({ type }) => !['float', 'double', 'geometry', 'json', 'other'].includes(familyOf(type).kind)) === true ? key : null;
}

/** Compiles to a JSON array of texts. @param values replace those of the row */
export function keyCellSql(key: RowKey, row: Row, values?: ReadonlyMap<string, Sql>): Sql {
  return sql`json_array(${join(
    key.map(({ name, type }) => columnTextSql(values?.get(name) ?? row.column(name), type)),
    sql`, `,
  )})`;
}

export interface FoundRows {
  /** `from` item that starts with the keys. */
  readonly from: Sql;
  readonly alias: Sql;
  readonly row: Row;
  /** Sort key in the order of the keys. */
  readonly position: Sql;
}

/** Location of keys in cells of earlier statements. */
export interface TransactionLocalKeys {
  readonly statements: readonly number[];
  readonly cell: number;
}

/** Returns a condition that excludes rows with these keys. */
export function excludesKeys(context: Context, key: RowKey, located: TransactionLocalKeys): (row: Row) => Sql {
  return (row) => {
    const { item, conditions } = keysItem(context, key, located, row);
    return sql`(not exists (select 1 from ${item} where ${conditions}))`;
  };
}

/** Compiles the rows with these keys, each once. */
export function rowsOfKeys(context: Context, table: QualifiedName, key: RowKey, located: TransactionLocalKeys): FoundRows {
  const alias = context.alias();
  const row = aliasRow(alias);
  const { keys, item, conditions } = keysItem(context, key, located, row);
  return {
    from: sql`${item} straight_join ${qualified(table)} as ${alias} on ${conditions}`,
    alias,
    row,
    position: sql`${keys}.\`i\``,
  };
}

/** Compiles the keys to a `from` item, and the condition that a row has one of them. */
function keysItem(context: Context, key: RowKey, { statements, cell }: TransactionLocalKeys, row: Row) {
  const keys = context.alias();
  const list = transactionLocalSql({ kind: 'transaction-local', statements, cell, row: null });
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
  // Booleans are numbers.
  return kind === 'boolean' ? sql`bigint` : kind === 'text' || kind === 'bytes' ? sql`longtext character set utf8mb4` : listType(type);
}

/** Compares texts in the collation of the column, which decides which keys are equal. */
function partValue({ type }: InsertColumn, part: Sql): Sql {
  const { kind } = familyOf(type);
  if (kind === 'bytes') return sql`from_base64(${part})`;
  return kind === 'text' ? collatedSql(part, type) : part;
}
