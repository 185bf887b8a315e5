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

/** `1` where the condition holds for a row, else `0`. */
export function flagSql(context: Context, condition: BoolExp, row: Row): Sql {
  return isTrue(condition) ? sql`'1'` : sql`if(${conditionSql(context, condition, ownScope(row))}, '1', '0')`;
}

/** A row with other values in some columns. */
export function rowWith(row: Row, values: ReadonlyMap<string, Sql>): Row {
  return { column: (name) => values.get(name) ?? row.column(name), whole: () => row.whole() };
}

/** `1`, or the statement, which has to be one that writes, fails. */
export function checkedSql({ context, fails }: Draft, check: BoolExp, row: Row, path: Path): Sql {
  if (isTrue(check)) return sql`'1'`;
  return sql`if(${conditionSql(context, check, ownScope(row))}, '1', ${raiseSql(fails(checkFailure(path)))})`;
}

export function checkFailure(path: Path): RaisedFailure {
  return { code: 'permission-error', message: 'check constraint of an insert/update permission has failed', path };
}

/** The database has changed the keys of rows that were written, so that they cannot be checked or given back. */
export function lostFailure(table: QualifiedName, path: Path): RaisedFailure {
  const message = `rows of "${printTable(table)}" were not found again by their keys after they were written`;
  return { code: 'not-supported', message, path };
}

/** @param what what would have to be done with them */
export function withoutKey(table: QualifiedName, what: string, path: Path): SvcError {
  const message = `rows of "${printTable(table)}" cannot be ${what}: the table has no primary key, or unique one without nulls, whose values are exact`;
  return new SvcError('not-supported', message, { path });
}

/** A view may show the new rows, which must not speak for themselves. */
export function unaskable(table: QualifiedName, path: Path): SvcError {
  const message = `the permission to insert into "${printTable(table)}" cannot be checked: it reads a view, which may show the new rows`;
  return new SvcError('not-supported', message, { path });
}

function printTable({ schema, name }: QualifiedName): string {
  return schema === '' ? name : `${schema}.${name}`;
}
