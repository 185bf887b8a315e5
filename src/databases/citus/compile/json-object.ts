import { join, string, type Sql, sql } from '../../../sql/fragment.ts';
import type { Entry } from '../../shared/set-plan/writer.ts';

/** Half of the maximum number of arguments of a function. */
const MAX_PAIRS = 50;

/** Compiles an object with any number of entries in one expression. It is not made from a row, whose type would differ between servers. */
export function jsonObject(entries: readonly Entry[]): Sql {
  const parts: Sql[] = [];
  for (let start = 0; start === 0 || start < entries.length; start += MAX_PAIRS) {
    const pairs = entries.slice(start, start + MAX_PAIRS).map(({ key, value }) => sql`${string(key)}, ${value}`);
    parts.push(sql`json_build_object(${join(pairs, sql`, `)})`);
  }
  if (parts.length === 1) return parts[0] as Sql;
  const last = parts.length - 1;
  const texts = parts.map((part, i) => {
    const opened = i === last ? sql`${part}::text` : sql`left(${part}::text, -1)`;
    return i === 0 ? opened : sql`right(${opened}, -1)`;
  });
  return sql`(${join(texts, sql` || ', ' || `)})::json`;
}
