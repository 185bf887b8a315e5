/**
 * Classifies the addresses that the service may connect to. An address that embeds another one (IPv4 in IPv6 in its several forms) gets
 * the more restricted class of the two.
 */
import { BlockList, isIP } from 'node:net';

/** `never`: link-local addresses and metadata services of clouds; `private`: not reachable from the public internet. */
export type AddressClass = 'public' | 'private' | 'never';

function blockList(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address, prefix] = subnet.split('/') as [string, string];
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

const NEVER = blockList([
  '169.254.0.0/16',
  'fe80::/10',
  // metadata services outside of the link-local ranges
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
]);

/** Multicast, and the IANA registry of special-purpose IPv4 addresses: no public service has such an address. */
const SPECIAL_IPV4 = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/** The prefix that IANA allocates as global unicast; other prefixes are local, for documentation, or unallocated. */
const GLOBAL_IPV6 = blockList(['2000::/3']);

/** The IANA registry of special-purpose IPv6 addresses within that prefix. 6to4 is classified by the embedded address. */
const SPECIAL_IPV6 = blockList(['2001::/23', '2001:db8::/32', '2620:4f:8000::/48', '3fff::/20']);

/** Metadata servers of Google Cloud: those of virtual machines, and their substitutes on cluster nodes. */
const METADATA_SERVERS = blockList(['169.254.0.0/16', 'fd20:ce::254/128']);

export function isMetadataServer(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && METADATA_SERVERS.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** @param address an IP address from the resolver or a socket; any other text is `never` */
export function classifyAddress(address: string): AddressClass {
  const plain = address.split('%', 1)[0] as string;
  switch (isIP(plain)) {
    case 4:
      return classify(plain, 'ipv4');
    case 6: {
      const groups = ipv6Groups(plain);
      return embeddedIpv4(groups)
        .map((inner) => classify(inner, 'ipv4'))
        .reduce(stricter, isWrittenIpv4(groups) ? 'public' : classify(plain, 'ipv6'));
    }
    default:
      return 'never';
  }
}

function classify(address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  if (NEVER.check(address, family)) return 'never';
  if (family === 'ipv4') return SPECIAL_IPV4.check(address, family) ? 'private' : 'public';
  return GLOBAL_IPV6.check(address, family) && !SPECIAL_IPV6.check(address, family) ? 'public' : 'private';
}

const RANK: Readonly<Record<AddressClass, number>> = { public: 0, private: 1, never: 2 };

function stricter(a: AddressClass, b: AddressClass): AddressClass {
  return RANK[a] >= RANK[b] ? a : b;
}

type Groups = readonly [number, number, number, number, number, number, number, number];

const NAT64 = 0xff9b;
const ISATAP = 0x5efe;

/** Returns true if the address is only another notation for an IPv4 address: mapped, translated, compatible, or NAT64. */
function isWrittenIpv4([g0, g1, g2, g3, g4, g5, g6, g7]: Groups): boolean {
  if (g2 !== 0 || g3 !== 0) return false;
  if (g0 === 0x64 && g1 === NAT64) return g4 === 0 && g5 === 0;
  if (g0 !== 0 || g1 !== 0) return false;
  if (g4 === 0xffff) return g5 === 0;
  return g4 === 0 && (g5 === 0xffff || (g5 === 0 && (g6 !== 0 || g7 > 1)));
}

/**
 * Returns the IPv4 addresses embedded in an IPv6 address: at its end, as in `::ffff:a.b.c.d` (RFC 4291), `::ffff:0:a.b.c.d` (RFC 2765),
 * NAT64 (RFC 6052) and ISATAP (RFC 5214); in 6to4 (RFC 3056) and Teredo (RFC 4380), whose client address is inverted; and at the
 * possible places in local NAT64 (RFC 8215), which depend on the length of its prefix.
 */
function embeddedIpv4(groups: Groups): readonly string[] {
  const [g0, g1, g2, g3, g4, g5, g6, g7] = groups;
  if (g0 === 0x2002) return [dotted(g1, g2)];
  if (g0 === 0x2001 && g1 === 0) return [dotted(g2, g3), dotted(g6 ^ 0xffff, g7 ^ 0xffff)];
  if (isWrittenIpv4(groups) || (g5 === ISATAP && (g4 & ~0x0200) === 0)) return [dotted(g6, g7)];
  if (g0 === 0x64 && g1 === NAT64 && g2 === 1) {
    // After prefixes of 48, 56, 64 and 96 bits; the ninth octet is skipped.
    const around = ((g4 & 0xff) << 8) | (g5 >> 8);
    return [
      dotted(g3, around),
      dotted(((g3 & 0xff) << 8) | (g4 & 0xff), g5),
      dotted(around, ((g5 & 0xff) << 8) | (g6 >> 8)),
      dotted(g6, g7),
    ];
  }
  return [];
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** Returns the eight groups of a valid IPv6 address. */
function ipv6Groups(address: string): Groups {
  const [head = '', tail] = address.split('::') as [string, string?];
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right] as unknown as Groups;
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number];
    return [a * 256 + b, c * 256 + d];
  });
}
