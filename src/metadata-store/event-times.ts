/** SQL that prints times for answers. */

/** Returns SQL for `2024-05-01T00:00:00Z`, with a fraction of the second if it is not zero. */
export function zuluTime(timestamptz: string): string {
  return `rtrim(rtrim(to_char(${timestamptz} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'`;
}

/** Returns SQL for the seconds of an interval as text. */
export function epochSeconds(interval: string): string {
  return `extract(epoch from ${interval})::text`;
}
