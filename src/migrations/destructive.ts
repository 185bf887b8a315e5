/** Statements of migrations that delete data: no migration back restores it. */
import type { ScannedStatement } from '../backend/migration-dialect.ts';
import type { SqlLexis } from '../model/sql-lexis.ts';
import { bareSql } from './bare-sql.ts';
import { SQL_NAME } from './sql-name.ts';

export interface DestructiveStatement {
  /** From 1. */
  readonly line: number;
  /** `drops the column title of task` */
  readonly what: string;
}

const DROP = /^drop (table|foreign table|schema|database|partition) (?:if exists )?(.+)/is;
const TRUNCATE = /^truncate (?:table )?(?:only )?(.+)/is;
/** Also as a part of `with`. */
const DELETE = new RegExp(`(?:^|\\()(?: ?)delete from (?:only )?${SQL_NAME}`, 'isu');
const ALTER = new RegExp(`^alter (?:foreign )?table (?:if exists )?(?:only )?${SQL_NAME} (.*)`, 'isu');
/** Parts of an `alter table` after `drop` that hold no data. */
const NO_DATA = 'constraint|default|not|identity|expression|index|key|primary|foreign|check|period|system';
const DROPPED = new RegExp(String.raw`\bdrop (?!(?:${NO_DATA})\b)(?:(partition|column) )?(?:if exists )?${SQL_NAME}`, 'giu');

/** Finds the statements that drop tables, columns, schemas or databases, or delete rows. Does not look into routines. */
export function destructiveStatements(statements: readonly ScannedStatement[], lexis: SqlLexis): readonly DestructiveStatement[] {
  return statements.flatMap(({ text, line }) => effectsOf(text, lexis).map((what) => ({ line, what })));
}

function effectsOf(statement: string, lexis: SqlLexis): readonly string[] {
  if (!/\b(?:drop|truncate|delete)\b/i.test(statement)) return [];
  const text = bareSql(statement, lexis, (literal) => (literal.startsWith("'") ? "''" : literal)).trim();
  const [, sort = '', names] = DROP.exec(text) ?? [];
  if (names !== undefined) return [`drops the ${sort.toLowerCase()} ${bareNames(names)}`];
  const truncated = TRUNCATE.exec(text)?.[1];
  if (truncated !== undefined) return [`deletes all rows of ${bareNames(truncated)}`];
  const emptied = DELETE.exec(text)?.[1];
  if (emptied !== undefined) return [`deletes rows of ${emptied}`];
  const [, table, actions = ''] = ALTER.exec(text) ?? [];
  if (table === undefined) return [];
  return [...actions.matchAll(DROPPED)].map(([, sort = 'column', name]) => `drops the ${sort.toLowerCase()} ${name} of ${table}`);
}

/** Removes options after a list of names. */
function bareNames(names: string): string {
  return names.replace(/\s+(?:cascade|restrict|restart identity|continue identity|force|with)\b.*$/is, '').trim();
}
