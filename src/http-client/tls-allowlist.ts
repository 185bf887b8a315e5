import type { Network } from '../metadata/network.ts';
import { hasUnknownKeys } from '../metadata/unknown-keys.ts';

/** A host whose certificate need not be in order: self-signed, of another name, not X.509 v3. */
export interface AllowlistedHost {
  readonly host: string;
  /** Usually a port; absent: every port. */
  readonly suffix?: string;
}

/** Whether `url` is a host of the list; a `suffix` must equal the port. */
export function isAllowlisted(list: readonly AllowlistedHost[], url: URL): boolean {
  const port = url.port === '' ? '443' : url.port;
  const host = url.hostname.toLowerCase();
  return list.some((entry) => {
    if (entry.host.toLowerCase() !== host) return false;
    return entry.suffix === undefined || entry.suffix === '' || entry.suffix.replace(/^:/, '') === port;
  });
}

/** The entries of the metadata that permit certificates which are not in order. */
export function tlsAllowlistOf({ tlsAllowlist }: Network): readonly AllowlistedHost[] {
  const entries: AllowlistedHost[] = [];
  for (const entry of tlsAllowlist.values()) {
    const { host, suffix, permissions } = entry;
    // A key that nobody knows may be what narrows the entry.
    if (hasUnknownKeys(entry) || permissions?.includes('self-signed') === false) continue;
    entries.push(suffix === null ? { host } : { host, suffix });
  }
  return entries;
}
