import { SvcError } from '../../errors/svc-error.ts';
import { type Codec, defaulted, leaf, like, object, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { printTlsHost, type TlsAllowlistEntry, tlsAllowlistEntryCodec, tlsAllowlistKey, tlsSuffixCodec } from '../../metadata/network.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { refused } from '../operation-error.ts';

/** Codec that also accepts only the host. An empty host is refused later, with its own message. */
function orBareHost<A>(long: Codec<A>): Codec<A> {
  return leaf(
    long.name,
    (json, path) => long.decode(typeof json === 'string' ? { host: json } : json, path),
    (value) => long.encode(value),
    like(long, 'Alternatively, only the host.'),
  );
}

function withAllowlist(metadata: Metadata, tlsAllowlist: ReadonlyMap<string, TlsAllowlistEntry>): Metadata {
  return { ...metadata, network: { ...metadata.network, tlsAllowlist } };
}

const addHost: OperationGroup = () => [
  operation({
    type: 'add_host_to_tls_allowlist',
    args: orBareHost(tlsAllowlistEntryCodec(text)),
    changes: 'metadata',
    errors: [refused('bad-request', '`host` is empty'), refused('already-exists', 'an entry for this host and suffix exists')],
    documentation: {
      summary: 'Allows the service to call a host whose TLS certificate is self-signed or otherwise invalid.',
      example: { host: 'hooks.example.org', suffix: '8443', permissions: ['self-signed'] },
    },
    edit(metadata, entry) {
      if (entry.host === '') throw new SvcError('bad-request', 'key "host" cannot be empty');
      const { tlsAllowlist } = metadata.network;
      const key = tlsAllowlistKey(entry);
      if (tlsAllowlist.has(key)) throw new SvcError('already-exists', `${printTlsHost(entry)} already exists in the allowlist`);
      return withAllowlist(metadata, withEntry(tlsAllowlist, key, entry));
    },
  }),
];

const dropHost: OperationGroup = () => [
  operation({
    type: 'drop_host_from_tls_allowlist',
    args: orBareHost(
      object('DropHostFromTLSAllowlist', { host: required(text), suffix: defaulted<string | null>(tlsSuffixCodec, () => null) }),
    ),
    changes: 'metadata',
    errors: [
      refused('bad-request', '`host` is empty'),
      refused('not-exists', 'no entry for this host and suffix exists'),
      refused('bad-request', '`suffix` is absent, and the host has several entries with a suffix'),
    ],
    documentation: {
      summary:
        'Removes an entry of the TLS allow-list. Without `suffix`, this is the entry of the host without a suffix, or else its only entry.',
      example: { host: 'hooks.example.org', suffix: '8443' },
    },
    edit(metadata, entry) {
      if (entry.host === '') throw new SvcError('bad-request', 'hostname cannot be empty');
      const { tlsAllowlist } = metadata.network;
      const key = tlsAllowlist.has(tlsAllowlistKey(entry)) ? tlsAllowlistKey(entry) : onlyEntryOf(entry, tlsAllowlist);
      if (key === undefined) throw new SvcError('not-exists', `${printTlsHost(entry)} isn't present in the allowlist`);
      return withAllowlist(metadata, withoutEntry(tlsAllowlist, key));
    },
  }),
];

/** Returns the key of the only entry of a host. @throws SvcError bad-request if there are several */
function onlyEntryOf(
  { host, suffix }: Pick<TlsAllowlistEntry, 'host' | 'suffix'>,
  entries: ReadonlyMap<string, TlsAllowlistEntry>,
): string | undefined {
  if (suffix !== null) return undefined;
  const found = [...entries].filter(([, entry]) => entry.host === host);
  if (found.length > 1) {
    const suffixes = found.map(([, entry]) => JSON.stringify(entry.suffix)).join(', ');
    throw new SvcError('bad-request', `the host "${host}" has several entries in the allowlist: set "suffix" to one of ${suffixes}`);
  }
  return found[0]?.[0];
}

export const networkOperations: readonly OperationGroup[] = [addHost, dropHost];
