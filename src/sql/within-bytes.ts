/**
 * Lists that are shown to administrators are bounded in bytes, not only in rows: rows of logs hold whole requests and answers.
 */

/** Of all rows of a list: the one with which it is reached is the last. */
export const MOST_LISTED_BYTES = 32 * 1024 * 1024;

/**
 * The rows of a statement up to a number of bytes, in their order, for `cutRows`.
 * @param select SQL with one column, a text, of at most so many rows as a database can hold
 */
export function withinBytes(select: string, bytes: number): string {
  return `
select listed, total from (
  select listed, place, count(*) over () as total,
    sum(octet_length(listed)) over (order by place rows between unbounded preceding and 1 preceding) as before
  from (select listed, row_number() over () as place from (${select}) as each_row (listed)) as in_order) as measured
where before is null or before < ${bytes} order by place`;
}

/** The texts that such a statement gave, and of how many. */
export function cutRows(rows: readonly (readonly (string | null)[])[]): { readonly texts: readonly string[]; readonly of: number } {
  return { texts: rows.map(([text]) => text ?? 'null'), of: Number(rows[0]?.[1] ?? 0) };
}
