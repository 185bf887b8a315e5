/**
 * Updates and deletes. MariaDB does not report which rows an update wrote, so their keys are read and locked first, unless the condition
 * determines them, and the written rows are found again by their keys.
 */
import type { ResultPiece } from '../../../../backend/backend.ts';
import { emptyAnswer, hasNothingToDo, returnedFields } from '../../../shared/mutation-output.ts';
import type { BoolExp } from '../../../../ir/bool-exp.ts';
import type { Assignment, Delete, RowKey, Update } from '../../../../ir/mutation.ts';
import { readsOtherRows, readsTable } from '../../../../ir/reads.ts';
import type { Operand } from '../../../../ir/value.ts';
import { whereSql } from '../../../shared/condition.ts';
import { EMPTY, join, type Sql, sql } from '../../../../sql/fragment.ts';
import { aliasRow, ownScope, type Row } from '../../../shared/row.ts';
import { ROOT } from '../../../../util/path.ts';
import { familyOf } from '../../families.ts';
import { conditionsOf } from '../bool-exp.ts';
import type { Context } from '../context.ts';
import { operandSql } from '../operand.ts';
import { rowObjectSql } from '../query.ts';
import { qualified } from '../relation.ts';
import { answer } from './answer.ts';
import { assignedSql, newValueSql } from './assigned.ts';
import { checkFailure, flagSql, isTrue, lostFailure, rowWith, withoutKey } from './checks.ts';
import type { Draft, Program } from './program.ts';
import { keyCellSql, rowsOfKeys, usableKey } from './row-key.ts';
import { roundedSql } from './values.ts';

/** Rows to write, in statements after the one that found them. */
interface Found {
  readonly from: Sql;
  readonly alias: Sql;
  readonly row: Row;
  readonly order: Sql;
  readonly where: Sql;
}

export function compileUpdate(program: Program, update: Update): readonly ResultPiece[] {
  const { table, output, check } = update;
  if (hasNothingToDo(update)) return [emptyAnswer(output)];
  const key = usableKey(update.key);
  const returned = returnedFields(output);
  const isRead = returned.length > 0 || !isTrue(check);
  const keyChanges = key === null ? new Map<string, Assignment | null>() : changedKeys(update, key);
  const readsItself = readsTable(check, table);
  const pinned = key === null || keyChanges.size > 0 || readsItself ? null : pinnedKey(update.where, key);
  if (!isRead || pinned !== null) {
    const written = program.add(ROOT, ({ context }) => {
      const alias = context.alias();
      return {
        sql: sql`update ${qualified(table)} as ${alias}${setSql(update, aliasRow(alias))}${filterSql(context, update.where, aliasRow(alias))}`,
      };
    });
    if (!isRead || pinned === null) return answer(program, written, output, { writes: [written], reads: [], cell: 0 });
    return readBack(program, update, written, (context) => pinnedRows(context, update, pinned));
  }
  if (key === null) throw withoutKey(table, 'updated with a check or returned fields', ROOT);
  const found = program.add(ROOT, ({ context, declareFailure }) => {
    const alias = context.alias();
    const row = aliasRow(alias);
    const cells = [keyCellSql(key, row)];
    if (keyChanges.size > 0) cells.push(keyCellSql(key, row, newKeys(key, keyChanges, row)));
    // New values must not satisfy their own check, so the check must also be true while all rows of the table have their old values.
    const checked = readsItself ? { check: { cell: cells.length, failure: declareFailure(checkFailure(ROOT)) } } : {};
    if (readsItself) cells.push(flagSql(context, check, rowWith(row, newValues(update, row))));
    return {
      sql: sql`select ${join(cells, sql`, `)} from ${qualified(table)} as ${alias}${filterSql(context, update.where, row)} for update`,
      ...checked,
    };
  });
  const written = program.add(ROOT, ({ context, declareFailure }) => {
    const rows = rowsOfKeys(context, table, key, { statements: [found], cell: 0 });
    return {
      sql: sql`update ${rows.from}${setSql(update, rows.row)}`,
      ifAny: [found],
      sameCountAs: { statements: [found], failure: declareFailure(lostFailure(table, ROOT)) },
    };
  });
  return readBack(program, update, written, (context) => {
    const rows = rowsOfKeys(context, table, key, { statements: [found], cell: keyChanges.size > 0 ? 1 : 0 });
    return { ...rows, order: sql` order by ${rows.position}`, where: EMPTY };
  });
}

/** Checks written rows and returns them. @param written statement that writes */
function readBack(program: Program, update: Update, written: number, rowsOf: (context: Context) => Found): readonly ResultPiece[] {
  const { table, output, check } = update;
  const returned = returnedFields(output);
  const read = program.add(ROOT, ({ context, declareFailure }: Draft) => {
    const { from, row, order, where } = rowsOf(context);
    const cells = [flagSql(context, check, row), ...returned.map((fields) => rowObjectSql(context, fields, row))];
    return {
      sql: sql`select ${join(cells, sql`, `)} from ${from}${where}${order}`,
      ifAny: [written],
      check: { cell: 0, failure: declareFailure(checkFailure(ROOT)) },
      sameCountAs: { statements: [written], failure: declareFailure(lostFailure(table, ROOT)) },
      mayBeCut: returned.some(readsOtherRows),
    };
  });
  return answer(program, read, output, { writes: [written], reads: [read], cell: 1 });
}

/** Deleted rows are read before they are removed. */
export function compileDelete(program: Program, deletion: Delete): readonly ResultPiece[] {
  const { table, output, where } = deletion;
  const returned = returnedFields(output);
  const key = usableKey(deletion.key);
  if (key === null || !returned.some(readsOtherRows)) {
    const written = program.add(ROOT, ({ context }) => {
      const row = aliasRow(qualified(table));
      const objects = returned.map((fields) => rowObjectSql(context, fields, row));
      const returning = objects.length === 0 ? EMPTY : sql` returning ${join(objects, sql`, `)}`;
      return {
        sql: sql`delete from ${qualified(table)}${filterSql(context, where, row)}${returning}`,
        mayBeCut: returned.some(readsOtherRows),
      };
    });
    return answer(program, written, output, { writes: [written], reads: [written], cell: 0 });
  }
  const found = program.add(ROOT, ({ context }) => {
    const alias = context.alias();
    const row = aliasRow(alias);
    const cells = [keyCellSql(key, row), ...returned.map((fields) => rowObjectSql(context, fields, row))];
    return {
      sql: sql`select ${join(cells, sql`, `)} from ${qualified(table)} as ${alias}${filterSql(context, where, row)} for update`,
      mayBeCut: true,
    };
  });
  const written = program.add(ROOT, ({ context, declareFailure }) => {
    const rows = rowsOfKeys(context, table, key, { statements: [found], cell: 0 });
    return {
      sql: sql`delete ${rows.alias} from ${rows.from}`,
      ifAny: [found],
      sameCountAs: { statements: [found], failure: declareFailure(lostFailure(table, ROOT)) },
    };
  });
  return answer(program, written, output, { writes: [written], reads: [found], cell: 1 });
}

function setSql({ assignments, defaults = [] }: Update, row: Row): Sql {
  const list = [
    ...assignments.map((assignment) => sql`${row.column(assignment.column)} = ${assignedSql(assignment, row)}`),
    ...defaults.map((column) => sql`${row.column(column)} = default`),
  ];
  return sql` set ${join(list, sql`, `)}`;
}

function filterSql(context: Context, where: BoolExp, row: Row): Sql {
  return whereSql(conditionsOf(context, where, ownScope(row)));
}

/** Returns the key columns that an update writes; `null` stands for a default. */
function changedKeys({ assignments, defaults = [] }: Update, key: RowKey): ReadonlyMap<string, Assignment | null> {
  const isOfKey = (column: string): boolean => key.some(({ name }) => name === column);
  return new Map([
    ...assignments.filter(({ column }) => isOfKey(column)).map((assignment) => [assignment.column, assignment] as const),
    ...defaults.filter(isOfKey).map((column) => [column, null] as const),
  ]);
}

/** Returns the new values of a row by column. */
function newValues({ assignments, defaults = [] }: Update, row: Row): ReadonlyMap<string, Sql> {
  return new Map([
    ...assignments.map((assignment) => [assignment.column, newValueSql(assignment, row)] as const),
    ...defaults.map((column) => [column, sql`default(${row.column(column)})`] as const),
  ]);
}

/** Returns the new values of key columns. */
function newKeys(key: RowKey, changes: ReadonlyMap<string, Assignment | null>, row: Row): ReadonlyMap<string, Sql> {
  return new Map(
    key.flatMap(({ name, type }) => {
      const assignment = changes.get(name);
      if (assignment === undefined) return [];
      return [[name, assignment === null ? sql`default(${row.column(name)})` : roundedSql(type, assignedSql(assignment, row))]];
    }),
  );
}

/** Returns the key values that a condition determines, or `null` if it does not determine all of them. */
function pinnedKey(where: BoolExp, key: RowKey): ReadonlyMap<string, Operand> | null {
  const values = new Map<string, Operand>();
  const visit = (exp: BoolExp): void => {
    if (exp.kind === 'and') exp.items.forEach(visit);
    else if (exp.kind === 'guarded') [exp.guard, exp.item].forEach(visit);
    else if (exp.kind === 'compare' && exp.operator === '_eq' && !exp.nullSafe && exp.argument.kind === 'operand') {
      const { left } = exp;
      if (left.kind === 'column' && left.mask === undefined) values.set(left.column, exp.argument.operand);
    }
  };
  visit(where);
  // Several values of a boolean column are true.
  return key.every(({ name, type }) => values.has(name) && familyOf(type).kind !== 'boolean') ? values : null;
}

function pinnedRows(context: Context, { table, key = [] }: Update, values: ReadonlyMap<string, Operand>): Found {
  const alias = context.alias();
  const row = aliasRow(alias);
  const conditions = key.map(({ name }) => sql`${row.column(name)} = ${operandSql(values.get(name) as Operand)}`);
  return { from: sql`${qualified(table)} as ${alias}`, alias, row, order: EMPTY, where: whereSql(conditions) };
}
