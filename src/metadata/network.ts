/** What the service may do on the network: the TLS allow-list. */
import { type Codec, defaulted, leaf, list, literal, mapOrNone, nonEmptyText, nullable, object, required, text } from './codec.ts';
import { kept } from './kept.ts';
import { keyedList } from './keyed-list.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

const TLS_PERMISSIONS = ['self-signed'] as const;
export type TlsPermission = (typeof TLS_PERMISSIONS)[number];

/** A host whose certificate need not be in order. */
export interface TlsAllowlistEntry extends WithUnknownKeys {
  readonly host: string;
  /** Usually a port; null: every port. */
  readonly suffix: string | null;
  /** null: what an entry permits by default, which is `self-signed`. */
  readonly permissions: readonly TlsPermission[] | null;
}

export interface Network extends WithUnknownKeys {
  /** By `tlsAllowlistKey`. */
  readonly tlsAllowlist: ReadonlyMap<string, TlsAllowlistEntry>;
}

export const NO_NETWORK: Network = { tlsAllowlist: new Map() };

/** Host and suffix together are what makes an entry; texts of the key order as the entries do. */
export function tlsAllowlistKey({ host, suffix }: Pick<TlsAllowlistEntry, 'host' | 'suffix'>): string {
  return suffix === null ? host : `${host}\0${suffix}`;
}

/** As messages call it: `the host "h"`, `the host "h" with suffix "s"`. */
export function printTlsHost({ host, suffix }: Pick<TlsAllowlistEntry, 'host' | 'suffix'>): string {
  return `the host "${host}"${suffix === null ? '' : ` with suffix "${suffix}"`}`;
}

/** An empty suffix counts as none. */
export const tlsSuffixCodec: Codec<string | null> = leaf(
  text.name,
  (json, path) => (json === null || json === '' ? null : nonEmptyText.decode(json, path)),
  (value) => value,
  { says: 'Usually a port; an empty text is none.' },
);

const permissions: Codec<readonly TlsPermission[] | null> = nullable(list(literal('TlsPermission', TLS_PERMISSIONS)));

/** An entry whose host is read by `host`. */
export function tlsAllowlistEntryCodec(host: Codec<string>): Codec<TlsAllowlistEntry> {
  return object('TlsAllow', {
    host: required(host),
    suffix: defaulted<string | null>(tlsSuffixCodec, () => null),
    permissions: defaulted<readonly TlsPermission[] | null>(permissions, () => null),
  });
}

/** The section of the document; left out when it is empty. */
export const networkCodec: Codec<Network> = object('Network', {
  tlsAllowlist: mapOrNone(
    keyedList({
      what: 'TLS allowlist entries',
      item: kept(tlsAllowlistEntryCodec(nonEmptyText)),
      key: tlsAllowlistKey,
      print: printTlsHost,
    }),
  ),
});

export function isEmptyNetwork({ tlsAllowlist }: Network): boolean {
  return tlsAllowlist.size === 0;
}
