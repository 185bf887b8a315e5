/**
 * A row with a conflict clause. MariaDB's own clause applies to any unique key and does not report which rows it updated, so the row is
 * found by the columns of the constraint and locked, then inserted or updated.
 */
import type { RaisedFailure } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import { TRUE } from '../../../../ir/bool-exp.ts';
import type { InsertColumn, OnConflict } from '../../../../ir/mutation.ts';
import { readsTable } from '../../../../ir/reads.ts';
import type { Operand } from '../../../../ir/value.ts';
import { join, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, ownScope, type Row } from '../../../shared/row.ts';
import { whereSql } from '../../../shared/condition.ts';
import { conditionsOf } from '../bool-exp.ts';
import { castSql, parameterSql } from '../operand.ts';
import { qualified } from '../relation.ts';
import { checkFailure, flagSql, isTrue, lostFailure, rowWith } from './checks.ts';
import { cellsSql, type InsertInto, insertRowsInto, type LevelRow } from './insert-rows.ts';
import type { Program } from './program.ts';
import { filledSql, transactionLocalSql, roundedSql, writtenSql } from './values.ts';

export interface Upserted {
  readonly writes: readonly number[];
  /** Statements of which one returns the row with the requested cells. */
  readonly reads: readonly number[];
}

/** @param absentFailure raised if the row is neither inserted nor updated */
export function upsertRow(program: Program, into: InsertInto, row: LevelRow, absentFailure: RaisedFailure | null): Upserted {
  const { common, path } = into;
  const clause = common.onConflict;
  if (clause === null) throw new Error('invariant: a row with a conflict clause');
  const update = assignments(clause.update, row);
  const key = conflictKey(clause, into);
  const { autoIncrement: autoIncremented = [] } = clause;
  // A row without a value gets a new one.
  const isNew = key?.some((column) => autoIncremented.includes(column) && !row.row.values.has(column) && !row.fills.has(column)) === true;
  if (key === null || isNew) return insertIgnoring(program, into, row, absentFailure, isNew);
  const { table } = common;
  const found = findConflicting(program, into, row, key, update === null ? null : clause.update);
  const isLast = update === null || clause.update === null;
  const inserted = insertRowsInto(program, into, [row], { ifNone: [found], onDuplicate: { again: found } });
  if (isLast) {
    if (absentFailure !== null) program.expect([inserted], absentFailure);
    return { writes: [inserted], reads: [inserted] };
  }
  const { where, check } = clause.update;
  const updated = program.add(path, ({ context, declareFailure }) => {
    const alias = context.alias();
    const target = aliasRow(alias);
    const conditions = [...keyConditions(key, into, row, target), ...conditionsOf(context, where, ownScope(target))];
    const list = update.map(([column, value]) => sql`${target.column(column)} = ${value}`);
    return {
      sql: sql`update ${qualified(table)} as ${alias} set ${join(list, sql`, `)}${whereSql(conditions)}`,
      ifAny: [found],
      sameCountAs: { statements: [found], failure: declareFailure(lostFailure(table, path)) },
    };
  });
  if (absentFailure !== null) program.expect([inserted, updated], absentFailure);
  const { cells } = into;
  const isReturned = cells.json.length > 0 || cells.key !== null || cells.columns.length > 0;
  if (!isReturned && (check === null || isTrue(check))) return { writes: [inserted, updated], reads: [inserted, updated] };
  const read = program.add(path, ({ context, declareFailure }) => {
    const alias = context.alias();
    const target = aliasRow(alias);
    const values = [flagSql(context, check ?? TRUE, target), ...cellsSql(context, cells, target)];
    // Only presets may change the key; all other key columns have the values of the row.
    const at = keyConditions(key, into, row, target, clause.update?.presets);
    return {
      sql: sql`select ${join(values, sql`, `)} from ${qualified(table)} as ${alias}${whereSql(at)}`,
      ifAny: [found],
      check: { cell: 0, failure: declareFailure(checkFailure(path)) },
      sameCountAs: { statements: [found], failure: declareFailure(lostFailure(table, path)) },
    };
  });
  return { writes: [inserted, updated], reads: [inserted, read] };
}

/**
 * Adds a statement that finds the row with the key and locks it if it will be updated.
 * @param update `null` if the clause updates no column
 * @returns its index
 */
function findConflicting(program: Program, into: InsertInto, row: LevelRow, key: readonly string[], update: OnConflict['update']): number {
  const { path } = into;
  const { table } = into.common;
  return program.add(path, ({ context, declareFailure }) => {
    const alias = context.alias();
    const where = keyConditions(key, into, row, aliasRow(alias));
    const from = sql` from ${qualified(table)} as ${alias}${whereSql(where)}`;
    if (update === null) return { sql: sql`select '0'${from}`, returned: 0 };
    const { where: filter, check } = update;
    const target = aliasRow(alias);
    const allowed = flagSql(context, filter, target);
    if (check === null || !readsTable(check, table)) return { sql: sql`select ${allowed}${from} for update`, returned: 0 };
    // As in `compileUpdate`, new values must not satisfy their own check.
    const checked = flagSql(context, check, rowWith(target, newValues(update, row, target)));
    return {
      sql: sql`select ${allowed}, if(${allowed} = '1', ${checked}, '1')${from} for update`,
      returned: 0,
      check: { cell: 1, failure: declareFailure(checkFailure(path)) },
    };
  });
}

/** Ignores a conflict with any unique key. */
function insertIgnoring(program: Program, into: InsertInto, row: LevelRow, absentFailure: RaisedFailure | null, isNew: boolean): Upserted {
  const inserted = insertRowsInto(program, into, [row], isNew ? {} : { onDuplicate: 'ignore' });
  if (absentFailure !== null) program.expect([inserted], absentFailure);
  return { writes: [inserted], reads: [inserted] };
}

/** Returns the columns of the constraint, or `null` for any constraint. */
function conflictKey({ constraint, columns = [], key }: OnConflict, { common, path }: InsertInto): readonly string[] | null {
  if (key !== undefined) return key;
  if (columns.length > 0) return columns;
  if (constraint === null) return null;
  const message = `"${constraint}" is not a primary key or unique constraint of "${common.table.name}"`;
  throw new SvcError('constraint-error', message, { path });
}

/** Returns the assigned values by column, or `null` if there are none. */
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

/** Returns the new values of the existing row for conditions, by column. */
function newValues(update: NonNullable<OnConflict['update']>, { row, fills }: LevelRow, target: Row): ReadonlyMap<string, Sql> {
  const values = new Map<string, Sql>();
  for (const column of update.columns) {
    const operand = row.values.get(column);
    const fill = fills.get(column);
    if (fill !== undefined) values.set(column, castSql(fill.type, transactionLocalSql(fill.value)));
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
  overrides?: ReadonlyMap<string, Operand>,
): readonly Sql[] {
  return key.map((name) => {
    const fill = fills.get(name);
    const operand = overrides?.get(name) ?? (fill === undefined ? row.values.get(name) : undefined);
    const column = target.column(name);
    if (operand !== undefined) return sql`${column} = ${roundedSql(operand.type, operandValue(operand))}`;
    if (fill !== undefined) {
      const type = typeOf(columns, name) ?? fill.type;
      return sql`${column} = ${roundedSql(type, castSql(type, transactionLocalSql(fill.value)))}`;
    }
    return sql`${column} = default(${column})`;
  });
}

function operandValue(operand: Operand): Sql {
  const { value, type } = operand;
  return value.kind === 'literal' && value.json === null ? sql`null` : castSql(type, parameterSql(operand));
}

function typeOf(columns: readonly InsertColumn[], name: string): InsertColumn['type'] | undefined {
  return columns.find((column) => column.name === name)?.type;
}
