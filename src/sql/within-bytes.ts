/** Limits lists for administrators by bytes as well as by rows: rows of logs hold whole requests and responses. */

/** Maximum size of a list, in bytes. The row that exceeds it is the last one. */
export const MAX_LISTED_BYTES = 32 * 1024 * 1024;

/**
 * Returns a statement for the first rows of a select up to a number of bytes, to be read by `cutRows`.
 * @param select SQL with one text column and an order
 */
export function withinBytes(select: string, bytes: number): string {
  return `
select listed, total from (
  select listed, place, count(*) over () as total,
    sum(octet_length(listed)) over (order by place rows between unbounded preceding and 1 preceding) as before
  from (select listed, row_number() over () as place from (${select}) as each_row (listed)) as in_order) as measured
where before is null or before < ${bytes} order by place`;
}

/** Returns the texts of such a result, and the number of all rows. */
export function cutRows(rows: readonly (readonly (string | null)[])[]): { readonly texts: readonly string[]; readonly of: number } {
  return { texts: rows.map(([text]) => text ?? 'null'), of: Number(rows[0]?.[1] ?? 0) };
}
