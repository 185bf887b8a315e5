/**
 * A row with a conflict clause. MariaDB's own clause is about any unique key, and does not say which rows it has updated: a row is
 * looked for by the columns of the constraint and locked, then inserted or updated.
 */
import type { RaisedFailure } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import { TRUE } from '../../../../ir/bool-exp.ts';
import type { InsertColumn, OnConflict } from '../../../../ir/mutation.ts';
import { readsTable } from '../../../../ir/reads-elsewhere.ts';
import type { Operand } from '../../../../ir/value.ts';
import { join, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, ownScope, type Row } from '../../../shared/row.ts';
import { whereSql } from '../../../shared/condition.ts';
import { conditionsOf } from '../bool-exp.ts';
import { placeholderSql } from '../operand.ts';
import { qualified } from '../relation.ts';
import { checkFailure, flagSql, isTrue, lostFailure, rowWith } from './checks.ts';
import { cellsSql, type InsertInto, insertRowsInto, type LevelRow } from './insert-rows.ts';
import type { Program } from './program.ts';
import { comparedSql, filledSql, keptSql, roundedSql, writtenSql } from './values.ts';

export interface Upserted {
  readonly writes: readonly number[];
  /** They give the row, one of them, with the cells that were asked for. */
  readonly reads: readonly number[];
}

/** @param awaited is raised where the row is neither inserted nor updated */
export function upsertRow(program: Program, into: InsertInto, row: LevelRow, awaited: RaisedFailure | null): Upserted {
  const { common, path } = into;
  const clause = common.onConflict;
  if (clause === null) throw new Error('invariant: a row with a conflict clause');
  const update = assignments(clause.update, row);
  const key = conflictKey(clause, into);
  const { counted = [] } = clause;
  // A row without a value gets one that no other has.
  const isNew = key?.some((column) => counted.includes(column) && !row.row.values.has(column) && !row.fills.has(column)) === true;
  if (key === null || isNew) return ignoring(program, into, row, awaited, isNew);
  const { table } = common;
  const found = program.add(path, ({ context, fails }) => {
    const alias = context.alias();
    const where = keyConditions(key, into, row, aliasRow(alias));
    const from = sql` from ${qualified(table)} as ${alias}${whereSql(where)}`;
    if (clause.update === null || update === null) return { sql: sql`select '0'${from}`, given: 0 };
    const { where: wanted, check } = clause.update;
    const target = aliasRow(alias);
    const allowed = flagSql(context, wanted, target);
    if (check === null || !readsTable(check, table)) return { sql: sql`select ${allowed}${from} for update`, given: 0 };
    // See `compileUpdate`: what the row will be must not speak for it.
    const checked = flagSql(context, check, rowWith(target, newValues(clause.update, row, target)));
    return {
      sql: sql`select ${allowed}, if(${allowed} = '1', ${checked}, '1')${from} for update`,
      given: 0,
      check: { cell: 1, failure: fails(checkFailure(path)) },
    };
  });
  const isLast = update === null || clause.update === null;
  const inserted = insertRowsInto(program, into, [row], { ifNone: [found], onDuplicate: { again: found } });
  if (isLast) {
    if (awaited !== null) program.expect([inserted], awaited);
    return { writes: [inserted], reads: [inserted] };
  }
  const { where, check } = clause.update;
  const updated = program.add(path, ({ context, fails }) => {
    const alias = context.alias();
    const target = aliasRow(alias);
    const conditions = [...keyConditions(key, into, row, target), ...conditionsOf(context, where, ownScope(target))];
    const list = update.map(([column, value]) => sql`${target.column(column)} = ${value}`);
    return {
      sql: sql`update ${qualified(table)} as ${alias} set ${join(list, sql`, `)}${whereSql(conditions)}`,
      ifAny: [found],
      sameAs: { statements: [found], failure: fails(lostFailure(table, path)) },
    };
  });
  if (awaited !== null) program.expect([inserted, updated], awaited);
  const { cells } = into;
  const isAsked = cells.json.length > 0 || cells.key !== null || cells.columns.length > 0;
  if (!isAsked && (check === null || isTrue(check))) return { writes: [inserted, updated], reads: [inserted, updated] };
  const read = program.add(path, ({ context, fails }) => {
    const alias = context.alias();
    const target = aliasRow(alias);
    const values = [flagSql(context, check ?? TRUE, target), ...cellsSql(context, cells, target)];
    // Only presets may say another key than the row: all other columns of it are as the row has them.
    const at = keyConditions(key, into, row, target, clause.update?.presets);
    return {
      sql: sql`select ${join(values, sql`, `)} from ${qualified(table)} as ${alias}${whereSql(at)}`,
      ifAny: [found],
      check: { cell: 0, failure: fails(checkFailure(path)) },
      sameAs: { statements: [found], failure: fails(lostFailure(table, path)) },
    };
  });
  return { writes: [inserted, updated], reads: [inserted, read] };
}

/** A row that is there already, whatever says so, is left alone. */
function ignoring(program: Program, into: InsertInto, row: LevelRow, awaited: RaisedFailure | null, isNew: boolean): Upserted {
  const inserted = insertRowsInto(program, into, [row], isNew ? {} : { onDuplicate: 'ignore' });
  if (awaited !== null) program.expect([inserted], awaited);
  return { writes: [inserted], reads: [inserted] };
}

/** The columns that tell what a row conflicts with; null: anything. */
function conflictKey({ constraint, columns = [], key }: OnConflict, { common, path }: InsertInto): readonly string[] | null {
  if (key !== undefined) return key;
  if (columns.length > 0) return columns;
  if (constraint === null) return null;
  const message = `"${constraint}" is no primary key or unique constraint of "${common.table.name}"`;
  throw new SvcError('constraint-error', message, { path });
}

/** What an update assigns, by column; null: nothing. */
function assignments(update: OnConflict['update'], { row, fills }: LevelRow): readonly (readonly [string, Sql])[] | null {
  if (update === null) return null;
  const values = new Map<string, Sql>();
  for (const column of update.columns) {
    const operand = row.values.get(column);
    const fill = fills.get(column);
    values.set(column, fill !== undefined ? filledSql(fill.value, fill.type) : operand === undefined ? sql`default` : writtenSql(operand));
  }
  for (const [column, operand] of update.presets) values.set(column, writtenSql(operand));
  return values.size === 0 ? null : [...values];
}

/** By column what the row that is there will have, as conditions read it. */
function newValues(update: NonNullable<OnConflict['update']>, { row, fills }: LevelRow, target: Row): ReadonlyMap<string, Sql> {
  const values = new Map<string, Sql>();
  for (const column of update.columns) {
    const operand = row.values.get(column);
    const fill = fills.get(column);
    if (fill !== undefined) values.set(column, comparedSql(fill.type, keptSql(fill.value)));
    else values.set(column, operand === undefined ? sql`default(${target.column(column)})` : operandValue(operand));
  }
  for (const [column, operand] of update.presets) values.set(column, operandValue(operand));
  return values;
}

function keyConditions(
  key: readonly string[],
  { columns }: InsertInto,
  { row, fills }: LevelRow,
  target: Row,
  instead?: ReadonlyMap<string, Operand>,
): readonly Sql[] {
  return key.map((name) => {
    const fill = fills.get(name);
    const operand = instead?.get(name) ?? (fill === undefined ? row.values.get(name) : undefined);
    const column = target.column(name);
    if (operand !== undefined) return sql`${column} = ${roundedSql(operand.type, operandValue(operand))}`;
    if (fill !== undefined) {
      const type = typeOf(columns, name) ?? fill.type;
      return sql`${column} = ${roundedSql(type, comparedSql(type, keptSql(fill.value)))}`;
    }
    return sql`${column} = default(${column})`;
  });
}

function operandValue(operand: Operand): Sql {
  const { value, type } = operand;
  return value.kind === 'literal' && value.json === null ? sql`null` : comparedSql(type, placeholderSql(operand));
}

function typeOf(columns: readonly InsertColumn[], name: string): InsertColumn['type'] | undefined {
  return columns.find((column) => column.name === name)?.type;
}
