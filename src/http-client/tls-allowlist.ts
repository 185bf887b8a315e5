import type { Network } from '../metadata/network.ts';
import { hasUnknownKeys } from '../metadata/unknown-keys.ts';

/** A host whose certificate may be invalid: self-signed, of another name, not X.509 v3. */
export interface AllowlistedHost {
  readonly host: string;
  /** Usually a port; absent for every port. */
  readonly suffix?: string;
}

/** Returns true if the list contains the host of `url`; a `suffix` must equal the port. */
export function isAllowlisted(list: readonly AllowlistedHost[], url: URL): boolean {
  const port = url.port === '' ? '443' : url.port;
  const host = url.hostname.toLowerCase();
  return list.some((entry) => {
    if (entry.host.toLowerCase() !== host) return false;
    return entry.suffix === undefined || entry.suffix === '' || entry.suffix.replace(/^:/, '') === port;
  });
}

/** Returns the hosts that may have invalid certificates according to the metadata. */
export function tlsAllowlistOf({ tlsAllowlist }: Network): readonly AllowlistedHost[] {
  const entries: AllowlistedHost[] = [];
  for (const entry of tlsAllowlist.values()) {
    const { host, suffix, permissions } = entry;
    // An unknown key may narrow the entry.
    if (hasUnknownKeys(entry) || permissions?.includes('self-signed') === false) continue;
    entries.push(suffix === null ? { host } : { host, suffix });
  }
  return entries;
}
