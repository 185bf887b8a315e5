/** History of SQL statements, stored in this browser without those that may contain a password. */
import { signal } from '@preact/signals';
import type { Json } from '../model/json.ts';
import { mayHoldPassword } from '../model/password-text.ts';
import { remember, remembered } from './storage.ts';

const KEY = 'sql-history';
const LENGTH = 50;

export const sqlHistory = signal<readonly string[]>(stored());

/** Returns the stored statements. Anything else in the storage counts as none. */
function stored(): readonly string[] {
  const found = remembered<Json>(KEY, []);
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : [];
}

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
