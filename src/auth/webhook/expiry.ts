const MAX_AGE = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,12})"?\s*(?:,|$)/i;
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * When a session ends, by what the webhook put into its answer's body.
 * @returns epoch milliseconds, undefined for never, and what was malformed
 */
export function expiryOf(
  cacheControl: string | undefined,
  expires: string | undefined,
  now: number,
): { readonly expiresAt: number | undefined; readonly malformed: readonly string[] } {
  const malformed: string[] = [];
  if (cacheControl !== undefined) {
    const seconds = MAX_AGE.exec(cacheControl)?.[1];
    if (seconds !== undefined) return { expiresAt: now + Number(seconds) * 1000, malformed };
    malformed.push('Cache-Control');
  }
  if (expires !== undefined) {
    const time = HTTP_DATE.test(expires) ? Date.parse(expires) : Number.NaN;
    if (!Number.isNaN(time)) return { expiresAt: time, malformed };
    malformed.push('Expires');
  }
  return { expiresAt: undefined, malformed };
}

/**
 * Returns when a session ends, by the cache headers of the webhook's answer. A time that has passed is about caches (`max-age=0` is what
 * many frameworks send with every answer) and ends no session.
 * @returns epoch milliseconds, `undefined` for never
 */
export function expiryOfHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  now: number,
): number | undefined {
  const joined = (name: string): string | undefined => [headers[name] ?? []].flat().join(', ') || undefined;
  const { expiresAt } = expiryOf(joined('cache-control'), joined('expires'), now);
  return expiresAt !== undefined && expiresAt > now ? expiresAt : undefined;
}
