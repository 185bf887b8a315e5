/**
 * Which addresses the service may connect to. An address that carries another one inside (IPv4 in
 * IPv6 in its several forms) is judged by both.
 */
import { BlockList, isIP } from 'node:net';

/** `never`: link-local and the metadata services of clouds; `private`: not reachable from the public internet. */
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

// The IANA registries of special-purpose addresses.
const PRIVATE = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  'fc00::/7',
  'fec0::/10',
  'ff00::/8',
]);

/** @param address an IP address as the resolver or a socket gives it; anything else is `never` */
export function classifyAddress(address: string): AddressClass {
  const plain = address.split('%', 1)[0] as string;
  switch (isIP(plain)) {
    case 4:
      return classify(plain, 'ipv4');
    case 6: {
      const own = classify(plain, 'ipv6');
      const inner = embeddedIpv4(plain);
      return inner === null ? own : worse(own, classify(inner, 'ipv4'));
    }
    default:
      return 'never';
  }
}

function classify(address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  if (NEVER.check(address, family)) return 'never';
  return PRIVATE.check(address, family) ? 'private' : 'public';
}

const RANK: Readonly<Record<AddressClass, number>> = { public: 0, private: 1, never: 2 };

function worse(a: AddressClass, b: AddressClass): AddressClass {
  return RANK[a] >= RANK[b] ? a : b;
}

/** The IPv4 address inside `::ffff:a.b.c.d`, `::a.b.c.d`, NAT64 (RFC 6052) and 6to4 (RFC 3056); null when there is none. */
function embeddedIpv4(address: string): string | null {
  const groups = ipv6Groups(address);
  const [g0, g1, g2, g3, g4, g5, g6, g7] = groups as [number, number, number, number, number, number, number, number];
  if (g0 === 0x2002) return dotted(g1, g2);
  const upperZero = g1 === 0 && g2 === 0 && g3 === 0 && g4 === 0;
  if (g0 === 0x64 && g1 === 0xff9b && g2 === 0 && g3 === 0 && g4 === 0 && g5 === 0) return dotted(g6, g7);
  if (g0 === 0 && upperZero && g5 === 0xffff) return dotted(g6, g7);
  if (g0 === 0 && upperZero && g5 === 0 && (g6 !== 0 || g7 > 1)) return dotted(g6, g7);
  return null;
}

function dotted(high: number, low: number): string {
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/** The eight groups of a valid IPv6 address. */
function ipv6Groups(address: string): readonly number[] {
  const [head = '', tail] = address.split('::') as [string, string?];
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number];
    return [a * 256 + b, c * 256 + d];
  });
}
