/**
 * Returns the lifetime of a cached response according to its headers.
 * @returns milliseconds; 0 if it must be fetched again at once; `null` if the headers do not say
 */
export function cacheLifetime(cacheControl: string | undefined, expires: string | undefined, now: number): number | null {
  if (cacheControl !== undefined) {
    const directives = new Map<string, string>();
    for (const part of cacheControl.split(',')) {
      const [name = '', value = ''] = part.split('=', 2).map((text) => text.trim());
      directives.set(name.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
    }
    if (directives.has('no-cache') || directives.has('no-store')) return 0;
    const age = seconds(directives.get('max-age')) ?? seconds(directives.get('s-maxage'));
    if (age !== null) return age * 1000;
    if (directives.has('must-revalidate')) return 0;
  }
  if (expires === undefined) return null;
  const time = Date.parse(expires);
  // "0" and other invalid dates mean the past (RFC 9111, section 5.3).
  return Number.isNaN(time) ? 0 : Math.max(0, time - now);
}

function seconds(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
