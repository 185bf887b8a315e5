/** Adapts the SQL of migrations and seeds to this service. */
import type { SqlReader } from './sql-reader.ts';
import type { ImportAccount } from './account.ts';
import type { OldCatalog } from './old-catalog.ts';

const GENERATED_UUID = /\bhdb_catalog\s*\.\s*gen_hasura_uuid\s*\(\s*\)/gi;
const SESSION_NAMES = /x-hasura-|hasura\.(?:user|tracecontext)/i;

/** Returns whether SQL reads session variables under the names of the other engine. */
export function readsSessionNames(sql: string): boolean {
  return SESSION_NAMES.test(sql);
}

/** Comments out lines of a dump that only psql understands and that change nothing in the database. */
export function withoutRestrictLines(text: string, shown: string, account: ImportAccount, { scan }: SqlReader): string {
  if (!/^\\(?:un)?restrict\b/m.test(text)) return text;
  const lines = new Set(scan(text).foreign.flatMap(({ line, what }) => (/^\\(?:un)?restrict$/.test(what) ? [line] : [])));
  if (lines.size === 0) return text;
  account.addRemark({
    id: `${shown.replaceAll('/', '.')}:restrict`,
    bucket: 'renamed',
    place: shown,
    message: 'lines with \\restrict, which pg_dump writes for psql -> comments',
  });
  return text
    .split('\n')
    .map((line, i) => (lines.has(i + 1) ? `-- ${line}` : line))
    .join('\n');
}

export interface MigrationSql {
  readonly source: string;
  /** `up.sql` or `down.sql`. */
  readonly file: string;
  /** Path in the new project, for the report. */
  readonly shown: string;
  readonly text: string;
}

/**
 * Returns the name of a file and its SQL without statements on the other engine's own tables.
 * @param readsSession receives the path if the file reads session variables of the other engine
 */
export function adapted(
  { source, file, shown, text }: MigrationSql,
  oldCatalog: OldCatalog,
  account: ImportAccount,
  reader: SqlReader,
  readsSession: string[],
): { readonly sql: string; readonly name: string } {
  const id = shown.replaceAll('/', '.');
  const adaptable = withoutRestrictLines(text, shown, account, reader);
  const ownUuids = adaptable.replace(GENERATED_UUID, 'gen_random_uuid()');
  if (ownUuids !== adaptable)
    account.addRemark({ id: `${id}:uuid`, bucket: 'renamed', place: shown, message: 'hdb_catalog.gen_hasura_uuid() -> gen_random_uuid()' });
  const { sql, used, dependent } = oldCatalog.commentOut(source, ownUuids, file === 'down.sql');
  if (used > 0)
    account.addRemark({
      id: `${id}:catalog`,
      bucket: 'needs-you',
      place: shown,
      message:
        'statements that use hdb_catalog are commented out; rewrite them for the tables of this service in svc_catalog if you need them',
    });
  if (dependent.length > 0)
    account.addRemark({
      id: `${id}:catalog-dependents`,
      bucket: 'needs-you',
      place: shown,
      message: `statements that need ${dependent.join(', ')} are commented out, because the statements that create it use hdb_catalog`,
    });
  if (readsSessionNames(sql)) readsSession.push(shown);
  if (/^\s*GO\s*$/im.test(sql) || /\[dbo\]\s*\./i.test(sql)) {
    account.addRemark({
      id: `${id}:dialect`,
      bucket: 'needs-you',
      place: shown,
      message: 'looks like the SQL of another kind of database',
    });
    return { sql, name: file };
  }
  const scanned = reader.scan(sql);
  for (const { line, what } of scanned.foreign)
    account.addRemark({
      id: `${id}:psql`,
      bucket: 'needs-you',
      place: `${shown}:${line}`,
      message: `${what} is for psql only: remove it, because such a migration cannot be applied`,
    });
  const isOutsideTransaction = file === 'up.sql' && scanned.outside.length > 0;
  if (isOutsideTransaction)
    account.addRemark({
      id: `${id}:no-transaction`,
      bucket: 'renamed',
      place: shown,
      message: 'cannot run in a transaction -> up.notx.sql',
    });
  return { sql, name: isOutsideTransaction ? 'up.notx.sql' : file };
}
