/** The SQL of a migration or seed as this service and its databases run it. */
import type { SqlReader } from './sql-reader.ts';
import type { Account } from './account.ts';
import type { OldCatalog } from './old-catalog.ts';

const GENERATED_UUID = /\bhdb_catalog\s*\.\s*gen_hasura_uuid\s*\(\s*\)/gi;
const SESSION_NAMES = /x-hasura-|hasura\.(?:user|tracecontext)/i;

/** Returns whether SQL reads session variables under the names of the other engine. */
export function readsSessionNames(sql: string): boolean {
  return SESSION_NAMES.test(sql);
}

/** Turns the lines of a dump that only psql understands, and that change nothing in the database, into comments. */
export function withoutGuards(text: string, shown: string, account: Account, { scan }: SqlReader): string {
  if (!/^\\(?:un)?restrict\b/m.test(text)) return text;
  const lines = new Set(scan(text).foreign.flatMap(({ line, what }) => (/^\\(?:un)?restrict$/.test(what) ? [line] : [])));
  if (lines.size === 0) return text;
  account.remark({
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
 * Returns the SQL without what belongs to the other engine's own tables, and the name of its file.
 * @param readsSession gets the path of a file that reads session variables of the other engine
 */
export function adapted(
  { source, file, shown, text }: MigrationSql,
  oldCatalog: OldCatalog,
  account: Account,
  reader: SqlReader,
  readsSession: string[],
): { readonly sql: string; readonly name: string } {
  const id = shown.replaceAll('/', '.');
  const given = withoutGuards(text, shown, account, reader);
  const ownUuids = given.replace(GENERATED_UUID, 'gen_random_uuid()');
  if (ownUuids !== given)
    account.remark({ id: `${id}:uuid`, bucket: 'renamed', place: shown, message: 'hdb_catalog.gen_hasura_uuid() -> gen_random_uuid()' });
  const { sql, used, dependent } = oldCatalog.commentOut(source, ownUuids, file === 'down.sql');
  if (used > 0)
    account.remark({
      id: `${id}:catalog`,
      bucket: 'needs-you',
      place: shown,
      message: 'statements that use hdb_catalog are commented out; the tables of this service are in svc_catalog',
    });
  if (dependent.length > 0)
    account.remark({
      id: `${id}:catalog-dependents`,
      bucket: 'needs-you',
      place: shown,
      message: `statements that need ${dependent.join(', ')} are commented out, because what creates it uses hdb_catalog`,
    });
  if (readsSessionNames(sql)) readsSession.push(shown);
  if (/^\s*GO\s*$/im.test(sql) || /\[dbo\]\s*\./i.test(sql)) {
    account.remark({ id: `${id}:dialect`, bucket: 'needs-you', place: shown, message: 'looks like the SQL of another kind of database' });
    return { sql, name: file };
  }
  const scanned = reader.scan(sql);
  for (const { line, what } of scanned.foreign)
    account.remark({
      id: `${id}:psql`,
      bucket: 'needs-you',
      place: `${shown}:${line}`,
      message: `${what} is for psql only: such a migration is not run`,
    });
  const isApart = file === 'up.sql' && scanned.outside.length > 0;
  if (isApart)
    account.remark({ id: `${id}:no-transaction`, bucket: 'renamed', place: shown, message: 'cannot run in a transaction -> up.notx.sql' });
  return { sql, name: isApart ? 'up.notx.sql' : file };
}
