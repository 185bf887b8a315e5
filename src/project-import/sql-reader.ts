import type { Backend } from '../backend/backend.ts';
import type { MigrationDialect } from '../backend/migration-dialect.ts';
import type { SqlText } from '../backend/sql-text.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { DEFAULT_SOURCE_KIND } from '../metadata/source.ts';

/** Reads the SQL of a project. */
export type SqlReader = Required<Pick<MigrationDialect, 'scan' | 'withoutComments'> & Pick<SqlText, 'statements'>>;

/** Returns the reader for SQL of PostgreSQL, in which migrations of the other engine are written. */
export function sqlReader(kinds: Kinds<Backend>): SqlReader {
  const { migrations, sqlText } = kinds.get(DEFAULT_SOURCE_KIND) ?? {};
  const [scan, withoutComments, statements] = [migrations?.scan, migrations?.withoutComments, sqlText?.statements];
  if (scan === undefined || withoutComments === undefined || statements === undefined)
    throw new Error(`invariant: the kind "${DEFAULT_SOURCE_KIND}" reads SQL of projects`);
  return { scan, withoutComments, statements };
}
