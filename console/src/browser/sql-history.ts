/** History of SQL statements, stored in this browser without those that may contain a password. */
import { signal } from '@preact/signals';
import { mayHoldPassword } from '../model/password-text.ts';
import { remember, remembered } from './storage.ts';

const KEY = 'sql-history';
const LENGTH = 50;

export const sqlHistory = signal<readonly string[]>(remembered<readonly string[]>(KEY, []));

function store(statements: readonly string[]): void {
  sqlHistory.value = statements;
  remember(KEY, statements);
}

// Earlier versions of the console have stored statements that are left out now.
if (sqlHistory.peek().some(mayHoldPassword)) store(sqlHistory.peek().filter((sql) => !mayHoldPassword(sql)));

export function addToSqlHistory(sql: string): void {
  if (mayHoldPassword(sql)) return;
  store([sql, ...sqlHistory.peek().filter((each) => each !== sql)].slice(0, LENGTH));
}
