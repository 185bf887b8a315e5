/** A statement that inserts rows, and the cells that it returns. */
import type { InsertedRows } from '../../../../backend/backend.ts';
import type { InsertColumn, InsertRow, InsertRows, RowKey, UniformRows } from '../../../../ir/mutation.ts';
import type { Field } from '../../../../ir/select.ts';
import type { TransactionLocalValue } from '../../../../ir/value.ts';
import type { CatalogType } from '../../../../catalog/catalog.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../shared/row.ts';
import type { Path } from '../../../../util/path.ts';
import type { Context } from '../context.ts';
import { rowObjectSql } from '../query.ts';
import { qualified } from '../relation.ts';
import { checkedSql, isTrue } from './checks.ts';
import type { Draft, DraftStatement, Program } from './program.ts';
import { keyCellSql } from './row-key.ts';
import { filledSql, columnTextSql, writtenSql } from './values.ts';

/** A row, and the values of its columns that come from earlier rows. */
export interface LevelRow {
  readonly row: InsertRow;
  readonly fills: Fills;
}

export type Fills = ReadonlyMap<string, Fill>;

export interface Fill {
  readonly value: TransactionLocalValue;
  /** Type of the column that provides the value. */
  readonly type: CatalogType;
}

export const NO_FILLS: Fills = new Map();

/** Cells requested for each written row, in this order after the first cell, which is a check. */
export interface Cells {
  /** Objects of fields of the row itself. */
  readonly json: readonly (readonly Field[])[];
  readonly key: RowKey | null;
  readonly columns: readonly InsertColumn[];
}

export interface InsertInto {
  readonly common: InsertRows;
  readonly columns: readonly InsertColumn[];
  readonly cells: Cells;
  /** Set if the statement checks the rows itself. */
  readonly checks: boolean;
  readonly path: Path;
}

/** Inserts individually known rows with values for the same columns. @returns the index of the statement */
export function insertRowsInto(
  program: Program,
  into: InsertInto,
  rows: readonly LevelRow[],
  flow: Omit<DraftStatement, 'sql'> = {},
): number {
  const { common, columns, path } = into;
  const inserted: InsertedRows = { table: common.table, columns, unchanged: false, rows: rows.map(({ row }) => row) };
  return program.add(
    path,
    (draft) => {
      const written = columns.filter(({ name }) => rows.some(({ row, fills }) => row.values.has(name) && !fills.has(name)));
      const names = [...new Set([...rows.flatMap(({ fills }) => [...fills.keys()]), ...written.map(({ name }) => name)])];
      const items = rows.map((row) => tuple(names.map((name) => cellSql(row, name))));
      return { ...flow, sql: sql`${headSql(into, names)}${join(items, sql`, `)}${returningSql(draft, into)}` };
    },
    inserted,
  );
}

/** Inserts as many rows as the request has. @returns the index of the statement */
export function insertUniform(program: Program, into: InsertInto, uniform: UniformRows, fills: Fills): number {
  const { common, columns, path } = into;
  const names = [...new Set([...fills.keys(), ...columns.map(({ name }) => name)])];
  const inserted: InsertedRows = { table: common.table, columns, unchanged: false, rows: uniform };
  return program.add(
    path,
    (draft) => {
      const cells = names.map((name) => {
        const fill = fills.get(name);
        const operand = uniform.values.get(name);
        if (fill !== undefined) return filledSql(fill.value, fill.type);
        if (operand === undefined) throw new Error('invariant: each column of uniform rows has a value');
        return operand.value.kind === 'members' ? writtenSql({ ...operand, list: true }) : writtenSql(operand);
      });
      return { sql: { before: headSql(into, names), row: tuple(cells), after: returningSql(draft, into) } };
    },
    inserted,
  );
}

function headSql({ common }: InsertInto, names: readonly string[]): Sql {
  return sql`insert into ${qualified(common.table)} ${tuple(names.map(identifier))} values `;
}

function tuple(items: readonly Sql[]): Sql {
  return sql`(${join(items, sql`, `)})`;
}

function cellSql({ row, fills }: LevelRow, name: string): Sql {
  const fill = fills.get(name);
  if (fill !== undefined) return filledSql(fill.value, fill.type);
  const operand = row.values.get(name);
  if (operand === undefined) throw new Error('invariant: rows of a statement have values for the same columns');
  return writtenSql(operand);
}

function returningSql(draft: Draft, { common, cells, checks, path }: InsertInto): Sql {
  const row = aliasRow(qualified(common.table));
  const more = cellsSql(draft.context, cells, row);
  const isChecked = checks && !isTrue(common.check);
  if (more.length === 0 && !isChecked) return EMPTY;
  const first = isChecked ? checkedSql(draft, common.check, row, path) : sql`'1'`;
  return sql` returning ${join([first, ...more], sql`, `)}`;
}

export function cellsSql(context: Context, { json, key, columns }: Cells, row: Row): readonly Sql[] {
  return [
    ...json.map((fields) => rowObjectSql(context, fields, row)),
    ...(key === null ? [] : [keyCellSql(key, row)]),
    ...columns.map(({ name, type }) => columnTextSql(row.column(name), type)),
  ];
}
