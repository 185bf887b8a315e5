import type { CatalogFingerprint } from '../../backend/backend.ts';
import { CATALOG_STATEMENTS } from './catalog.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

/** DDL is counted when it begins, but visible when it ends. */
const SETTLED_MS = 10_000;
/** Maximum delay for changes that took longer, or that another server made. */
const MAX_TRUST_MS = 60_000;

/** Counts DDL of all sessions since the server started, except for temporary tables. */
const COUNT = `select coalesce(sum(variable_value), 0) from information_schema.global_status
where variable_name rlike '^COM_(ALTER|CREATE|DROP|RENAME)_' and variable_name not rlike 'TEMPORARY'`;

/** Hashes the rows from which the catalog is read, one number for each statement. */
const DEFINITIONS = CATALOG_STATEMENTS.map(({ text, columns }) => {
  const row = columns.map((column) => `ifnull(${column}, char(1))`).join(', ');
  return `select count(*), coalesce(sum(crc32(concat_ws(char(0), ${row}))), 0) from (${text}) found`;
}).join(' union all ');

interface Seen {
  /** DDL statements so far. */
  readonly count: string;
  /** Epoch milliseconds when the count last changed, and when the definitions were last read. */
  readonly moved: number;
  readonly checked: number;
}

/**
 * Identifies the state of the catalog. Reading `information_schema` is expensive for the server, so definitions are read only while DDL
 * runs and at long intervals.
 */
export async function readCatalogFingerprint(
  query: (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>,
  before: CatalogFingerprint | null,
  now: number,
): Promise<CatalogFingerprint> {
  const previous = before?.seen == null ? null : (JSON.parse(before.seen) as Seen);
  const count = (await query(COUNT, [])).rows[0]?.[0] ?? '';
  const moved = previous === null || previous.count !== count ? now : previous.moved;
  if (before !== null && previous !== null && now - moved > SETTLED_MS && now - previous.checked < MAX_TRUST_MS) return before;
  const { rows } = await query(DEFINITIONS, []);
  const seen: Seen = { count, moved, checked: now };
  return { seen: JSON.stringify(seen), definitions: rows.map((row) => row.join(' ')).join(',') };
}
