import type { RaisedFailure } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { QualifiedName } from '../../../../catalog/catalog.ts';
import type { BoolExp } from '../../../../ir/bool-exp.ts';
import { type Sql, sql } from '../../../../sql/fragment.ts';
import { ownScope, type Row } from '../../../shared/row.ts';
import type { Path } from '../../../../util/path.ts';
import { conditionSql } from '../bool-exp.ts';
import type { Context } from '../context.ts';
import type { Draft } from './program.ts';
import { raiseSql } from './raise.ts';

export function isTrue(condition: BoolExp): boolean {
  return condition.kind === 'constant' && condition.value;
}

/** Compiles to `1` if the condition is true for a row, else to `0`. */
export function flagSql(context: Context, condition: BoolExp, row: Row): Sql {
  return isTrue(condition) ? sql`'1'` : sql`if(${conditionSql(context, condition, ownScope(row))}, '1', '0')`;
}

/** Returns a row with other values in some columns. */
export function rowWith(row: Row, values: ReadonlyMap<string, Sql>): Row {
  return { column: (name) => values.get(name) ?? row.column(name), whole: () => row.whole() };
}

/** Compiles to `1`, or raises an error in a statement that writes. */
export function checkedSql({ context, declareFailure }: Draft, check: BoolExp, row: Row, path: Path): Sql {
  if (isTrue(check)) return sql`'1'`;
  return sql`if(${conditionSql(context, check, ownScope(row))}, '1', ${raiseSql(declareFailure(checkFailure(path)))})`;
}

export function checkFailure(path: Path): RaisedFailure {
  return { code: 'permission-error', message: 'check constraint of an insert/update permission has failed', path };
}

/** The database has changed the keys of written rows, so they can be neither checked nor returned. */
export function lostFailure(table: QualifiedName, path: Path): RaisedFailure {
  const message = `rows of "${printTable(table)}" could not be found by their keys after they were written`;
  return { code: 'not-supported', message, path };
}

/** @param what the operation that needs a key, such as "updated" */
export function withoutKey(table: QualifiedName, what: string, path: Path): SvcError {
  const message = `rows of "${printTable(table)}" cannot be ${what}: the table has no primary or non-null unique key with exact values`;
  return new SvcError('not-supported', message, { path });
}

/** A view may show the new rows, whose existence must not satisfy their own check. */
export function uncheckable(table: QualifiedName, path: Path): SvcError {
  const message = `the permission to insert into "${printTable(table)}" cannot be checked: it reads a view, which may show the new rows`;
  return new SvcError('not-supported', message, { path });
}

function printTable({ schema, name }: QualifiedName): string {
  return schema === '' ? name : `${schema}.${name}`;
}
