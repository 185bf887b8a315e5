import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/** A host whose certificate need not be in order: self-signed, of another name, not X.509 v3. */
export interface TlsAllowlistEntry {
  readonly host: string;
  /** Usually a port; absent: every port. */
  readonly suffix?: string;
}

/** Whether `url` is a host of the list; a `suffix` must equal the port. */
export function isAllowlisted(list: readonly TlsAllowlistEntry[], url: URL): boolean {
  const port = url.port === '' ? '443' : url.port;
  const host = url.hostname.toLowerCase();
  return list.some((entry) => {
    if (entry.host.toLowerCase() !== host) return false;
    return entry.suffix === undefined || entry.suffix === '' || entry.suffix.replace(/^:/, '') === port;
  });
}

/** The entries in the metadata section `network`; what is no entry is left out. */
export function tlsAllowlistOf(network: Json | undefined): readonly TlsAllowlistEntry[] {
  const list = isJsonObject(network) ? network['tls_allowlist'] : undefined;
  if (!isJsonArray(list)) return [];
  const entries: TlsAllowlistEntry[] = [];
  for (const item of list) {
    if (!isJsonObject(item)) continue;
    const { host, suffix } = item;
    if (typeof host !== 'string' || host === '') continue;
    entries.push(typeof suffix === 'string' ? { host, suffix } : { host });
  }
  return entries;
}
