/** Returns the URL for logs: without user, password, query and fragment, which may be secret. */
export function safeUrl(url: string | URL): string {
  let parsed: URL;
  try {
    parsed = typeof url === 'string' ? new URL(url) : url;
  } catch {
    return 'invalid URL';
  }
  return `${parsed.protocol}//${parsed.host}${parsed.pathname}${parsed.search === '' ? '' : '?***'}`;
}
