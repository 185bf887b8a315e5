import type { MigrationDialect } from '../../../backend/migration-dialect.ts';
import { withoutComments } from '../../../model/split-statements.ts';
import { STANDARD_LEXIS } from '../../../model/sql-lexis.ts';
import { diffSchemas } from '../schema-diff/index.ts';
import { dumpRows, hasEmpty } from './dump-rows.ts';
import { dumpSchema } from './dump-schema.ts';
import { history } from './history.ts';
import { neededExtension } from './needed-extension.ts';
import { rollback } from './rollback.ts';
import { scanSql } from './scan.ts';
import { schemaLines } from './schema-lines.ts';
import { scratch } from './scratch.ts';

/** Migrations of PostgreSQL. */
export const migrations = {
  history,
  lexis: STANDARD_LEXIS,
  scan: scanSql,
  terminated: (sql) => `${sql}\n;\n`,
  withoutComments: (sql) => withoutComments(sql),
  schemaLines,
  scratch,
  rollback,
  dumpSchema,
  diffSchemas,
  dumpRows,
  hasEmpty,
  neededExtension,
} satisfies MigrationDialect;
