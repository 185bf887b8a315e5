const MAX_AGE = /(?:^|,)\s*max-age\s*=\s*"?(\d{1,12})"?\s*(?:,|$)/i;
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the expiry of a session according to the keys in the body of the webhook's response.
 * @returns epoch milliseconds, `undefined` for never, and the names of malformed keys
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
 * Returns the expiry of a session according to the cache headers of the webhook's response. A time in the past concerns
 * caching only (many frameworks send `max-age=0` with every response) and does not end the session.
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
