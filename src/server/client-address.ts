/** The address of a client behind proxies. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Addresses of proxies whose headers are trusted; `null` if there are none. */
export type TrustedProxies = BlockList | null;

/** @param ranges validated addresses and CIDR ranges */
export function trustedProxies(ranges: readonly string[]): TrustedProxies {
  if (ranges.length === 0) return null;
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/**
 * Returns the address of the client: that of the connection or, if it belongs to a trusted proxy, the last address of `X-Forwarded-For`
 * that does not. Addresses before that one can be forged.
 */
export function clientAddress({ headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>, trusted: TrustedProxies): string {
  const connected = socket.remoteAddress ?? '';
  if (trusted === null || !isTrusted(plain(connected), trusted)) return connected;
  const forwarded = headers['x-forwarded-for'];
  const text = Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '');
  let found = connected;
  for (const each of text.split(',').reverse()) {
    const address = withoutPort(each.trim());
    if (isIP(address) === 0) return found;
    found = address;
    if (!isTrusted(address, trusted)) return found;
  }
  return found;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  const family = isIP(address);
  return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Strips the IPv6 prefix of an IPv4 address, as reported by a dual-stack socket. */
function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** Strips the port, which some proxies add. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1];
  if (bracketed !== undefined) return plain(bracketed);
  const port = /^([\d.]+):\d+$/.exec(text)?.[1];
  return plain(port ?? text);
}
