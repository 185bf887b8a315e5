/** SQL of times as the interface shows them. */

/** `2024-05-01T00:00:00Z`, with the fraction of the second where there is one. */
export function zuluTime(timestamptz: string): string {
  return `rtrim(rtrim(to_char(${timestamptz} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.') || 'Z'`;
}

/** The seconds of an SQL expression, as a text. */
export function epochSeconds(interval: string): string {
  return `extract(epoch from ${interval})::text`;
}
