/** One statement that inserts rows into a table, and what it returns of them. */
import type { InsertedRows } from '../../../../backend/backend.ts';
import type { InsertColumn, InsertRow, InsertRows, RowKey, UniformRows } from '../../../../ir/mutation.ts';
import type { Field } from '../../../../ir/select.ts';
import type { KeptValue } from '../../../../ir/value.ts';
import type { CatalogType } from '../../../../catalog/catalog.ts';
import { EMPTY, identifier, join, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, type Row } from '../../../shared/row.ts';
import type { Path } from '../../../../util/path.ts';
import type { Context } from '../context.ts';
import { rowObjectSql } from '../query.ts';
import { qualified } from '../relation.ts';
import { checkedSql, isTrue } from './checks.ts';
import type { Draft, Made, Program } from './program.ts';
import { keyCellSql } from './row-key.ts';
import { filledSql, keptTextSql, writtenSql } from './values.ts';

/** A row, and by column what rows written before have for it. */
export interface LevelRow {
  readonly row: InsertRow;
  readonly fills: Fills;
}

export type Fills = ReadonlyMap<string, Fill>;

export interface Fill {
  readonly value: KeptValue;
  /** Of the column that the value comes from. */
  readonly type: CatalogType;
}

export const NOTHING_FILLED: Fills = new Map();

/** What is asked of each written row, in this order behind a first cell, which is a check. */
export interface Cells {
  /** Objects of fields that are the row's own. */
  readonly json: readonly (readonly Field[])[];
  readonly key: RowKey | null;
  readonly columns: readonly InsertColumn[];
}

export interface InsertInto {
  readonly common: InsertRows;
  readonly columns: readonly InsertColumn[];
  readonly cells: Cells;
  /** Whether the statement checks what it writes. */
  readonly checks: boolean;
  readonly path: Path;
}

/** Rows that are known one by one, with values for the same columns. @returns the place of the statement */
export function insertRowsInto(program: Program, into: InsertInto, rows: readonly LevelRow[], flow: Omit<Made, 'sql'> = {}): number {
  const { common, columns, path } = into;
  const inserted: InsertedRows = { table: common.table, columns, unchanged: false, rows: rows.map(({ row }) => row) };
  return program.add(
    path,
    (draft) => {
      const given = columns.filter(({ name }) => rows.some(({ row, fills }) => row.values.has(name) && !fills.has(name)));
      const names = [...new Set([...rows.flatMap(({ fills }) => [...fills.keys()]), ...given.map(({ name }) => name)])];
      const items = rows.map((row) => tuple(names.map((name) => cellSql(row, name))));
      return { ...flow, sql: sql`${headSql(into, names)}${join(items, sql`, `)}${returningSql(draft, into)}` };
    },
    inserted,
  );
}

/** Rows of a number that the request decides. @returns the place of the statement */
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
        if (operand === undefined) throw new Error('invariant: a column of rows that are alike has values');
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

/** Nothing where nobody asks. */
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
    ...columns.map(({ name, type }) => keptTextSql(row.column(name), type)),
  ];
}
