import { SvcError } from '../../errors/svc-error.ts';
import { type Codec, defaulted, leaf, like, object, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { printTlsHost, type TlsAllowlistEntry, tlsAllowlistEntryCodec, tlsAllowlistKey, tlsSuffixCodec } from '../../metadata/network.ts';
import { operation, type OperationGroup } from '../operation.ts';
import { refused } from '../operation-error.ts';
/** The host may stand for the object. An empty one is refused with a message of its own. */
function orBareHost<A>(long: Codec<A>): Codec<A> {
  return leaf(
    long.name,
    (json, path) => long.decode(typeof json === 'string' ? { host: json } : json, path),
    (value) => long.encode(value),
    like(long, 'Or only the host.'),
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
    errors: [refused('bad-request', '`host` is empty'), refused('already-exists', 'there is an entry for this host and suffix')],
    documentation: {
      summary: 'Lets the service call a host whose certificate is self-signed or otherwise not in order.',
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
      refused('not-exists', 'there is no entry for this host and suffix'),
      refused('bad-request', 'no `suffix` is given, and the host has several entries with one'),
    ],
    documentation: {
      summary:
        'Ends what an entry of the TLS allow-list permits. Without a suffix it is the entry of the host that has none, or else the only entry of the host.',
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

/** The key of the entry that a host without a suffix stands for. @throws SvcError bad-request for several */
function onlyEntryOf(
  { host, suffix }: Pick<TlsAllowlistEntry, 'host' | 'suffix'>,
  entries: ReadonlyMap<string, TlsAllowlistEntry>,
): string | undefined {
  if (suffix !== null) return undefined;
  const found = [...entries].filter(([, entry]) => entry.host === host);
  if (found.length > 1) {
    const suffixes = found.map(([, entry]) => JSON.stringify(entry.suffix)).join(', ');
    throw new SvcError('bad-request', `the host "${host}" has several entries in the allowlist: name the suffix of one, ${suffixes}`);
  }
  return found[0]?.[0];
}

export const networkOperations: readonly OperationGroup[] = [addHost, dropHost];
