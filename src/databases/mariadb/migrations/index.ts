import type { MigrationDialect } from '../../../backend/migration-dialect.ts';
import { dumpRows } from './dump-rows.ts';
import { history } from './history.ts';
import { endOfFirst, scanSql, terminated } from './scan.ts';
import { schemaLines } from './schema-lines.ts';
import { scratch } from './scratch.ts';

/** Classes of errors that come before a statement changes anything: syntax, names that are missing or exist, too few values. */
const REFUSED_AT_ONCE = /^(?:42|21S0)/;

/** Migrations of MariaDB. */
export const migrations: MigrationDialect = {
  history,
  scan: scanSql,
  terminated,
  implicitCommits: { endOfFirst, isRefusedAtOnce: (sqlState) => REFUSED_AT_ONCE.test(sqlState) },
  schemaLines,
  scratch,
  dumpRows,
};
