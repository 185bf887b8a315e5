import type { CatalogMark } from '../../backend/backend.ts';
import { CATALOG_STATEMENTS } from './catalog.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

/** A statement of definition counts when it begins, and is seen when it ends. */
const SETTLED_MS = 10_000;
/** What took longer, or was done by another server, is found so much later at the latest. */
const LONGEST_TRUST_MS = 60_000;

/** Statements of definition since the server started, of all sessions; those of temporary tables are nobody else's affair. */
const COUNT = `select coalesce(sum(variable_value), 0) from information_schema.global_status
where variable_name rlike '^COM_(ALTER|CREATE|DROP|RENAME)_' and variable_name not rlike 'TEMPORARY'`;

/** The rows that the catalog is read from, as one number each. */
const DEFINITIONS = CATALOG_STATEMENTS.map(({ text, columns }) => {
  const row = columns.map((column) => `ifnull(${column}, char(1))`).join(', ');
  return `select count(*), coalesce(sum(crc32(concat_ws(char(0), ${row}))), 0) from (${text}) found`;
}).join(' union all ');

interface Seen {
  /** Of statements of definition. */
  readonly count: string;
  /** When there were more of them than before, and when the rows were looked at: epoch milliseconds. */
  readonly moved: number;
  readonly checked: number;
}

/**
 * What tells that the catalog is the same as before. The rows of `information_schema` take the server long: they are looked at while
 * something is defined, and once in a while.
 */
export async function readMark(
  query: (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>,
  before: CatalogMark | null,
  now: number,
): Promise<CatalogMark> {
  const known = before?.seen == null ? null : (JSON.parse(before.seen) as Seen);
  const count = (await query(COUNT, [])).rows[0]?.[0] ?? '';
  const moved = known === null || known.count !== count ? now : known.moved;
  if (before !== null && known !== null && now - moved > SETTLED_MS && now - known.checked < LONGEST_TRUST_MS) return before;
  const { rows } = await query(DEFINITIONS, []);
  const seen: Seen = { count, moved, checked: now };
  return { seen: JSON.stringify(seen), definitions: rows.map((row) => row.join(' ')).join(',') };
}
