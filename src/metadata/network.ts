/** Network settings: the TLS allow-list. */
import { type Codec, defaulted, leaf, list, literal, mapOrNone, nonEmptyText, nullable, object, required, text } from './codec.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { keyedList } from './keyed-list.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

const TLS_PERMISSIONS = ['self-signed'] as const;
export type TlsPermission = (typeof TLS_PERMISSIONS)[number];

/** A host whose certificate may be invalid. */
export interface TlsAllowlistEntry extends WithUnknownKeys {
  readonly host: string;
  /** Usually a port; `null` for every port. */
  readonly suffix: string | null;
  /** `null` for the default, which is `self-signed`. */
  readonly permissions: readonly TlsPermission[] | null;
}

export interface Network extends WithUnknownKeys {
  /** Entries by `tlsAllowlistKey`. */
  readonly tlsAllowlist: ReadonlyMap<string, TlsAllowlistEntry>;
}

export const NO_NETWORK: Network = { tlsAllowlist: new Map() };

/** Returns the identity of an entry: host and suffix. Keys sort like entries. */
export function tlsAllowlistKey({ host, suffix }: Pick<TlsAllowlistEntry, 'host' | 'suffix'>): string {
  return suffix === null ? host : `${host}\0${suffix}`;
}

/** Name in messages: `the host "h"`, `the host "h" with suffix "s"`. */
export function printTlsHost({ host, suffix }: Pick<TlsAllowlistEntry, 'host' | 'suffix'>): string {
  return `the host "${host}"${suffix === null ? '' : ` with suffix "${suffix}"`}`;
}

/** An empty suffix counts as none. */
export const tlsSuffixCodec: Codec<string | null> = leaf(
  text.name,
  (json, path) => (json === null || json === '' ? null : nonEmptyText.decode(json, path)),
  (value) => value,
  { description: 'Usually a port. An empty text means none.' },
);

const permissions: Codec<readonly TlsPermission[] | null> = nullable(list(literal('TlsPermission', TLS_PERMISSIONS)));

/** @param host codec of the host */
export function tlsAllowlistEntryCodec(host: Codec<string>): Codec<TlsAllowlistEntry> {
  return object('TlsAllow', {
    host: required(host),
    suffix: defaulted<string | null>(tlsSuffixCodec, () => null),
    permissions: defaulted<readonly TlsPermission[] | null>(permissions, () => null),
  });
}

/** The section `network` of the document. */
export const networkCodec: Codec<Network> = object('Network', {
  tlsAllowlist: mapOrNone(
    keyedList({
      what: 'TLS allowlist entries',
      item: preserveUnknownKeys(tlsAllowlistEntryCodec(nonEmptyText)),
      key: tlsAllowlistKey,
      print: printTlsHost,
    }),
  ),
});

export function isEmptyNetwork({ tlsAllowlist }: Network): boolean {
  return tlsAllowlist.size === 0;
}
