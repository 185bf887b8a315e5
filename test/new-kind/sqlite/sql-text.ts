import type { SqlText } from '../../../src/backend/sql-text.ts';
import { SvcError } from '../../../src/errors/svc-error.ts';

/** @throws SvcError bad-request */
export function requireReads(sql: string): void {
  if (/^\s*(?:select|with|values|explain)\b/i.test(sql)) return;
  throw new SvcError('bad-request', 'sources of SQLite are read only: the SQL has to begin with select, with, values or explain');
}

/** SQL of administrators cannot change anything in SQLite. */
export const sqlText: SqlText = { mayChangeCatalog: () => false, requireReads };
