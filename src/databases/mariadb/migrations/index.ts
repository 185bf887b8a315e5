import type { MigrationDialect } from '../../../backend/migration-dialect.ts';
import { LEXIS } from '../lexis.ts';
import { dumpRows } from './dump-rows.ts';
import { history } from './history.ts';
import { endOfFirst, scanSql, terminated } from './scan.ts';
import { schemaLines } from './schema-lines.ts';
import { scratch } from './scratch.ts';

/** Classes of errors that occur before a statement changes anything: syntax errors, missing or existing names, too few values. */
const REFUSED_AT_ONCE = /^(?:42|21S0)/;

export const migrations: MigrationDialect = {
  history,
  lexis: LEXIS,
  scan: scanSql,
  terminated,
  implicitCommits: { endOfFirst, isRefusedAtOnce: (sqlState) => REFUSED_AT_ONCE.test(sqlState) },
  schemaLines,
  scratch,
  dumpRows,
};
