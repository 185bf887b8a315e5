import { expect, it } from 'vitest';
import { clientAddress, trustedProxies } from './client-address.ts';

const TRUSTED = trustedProxies(['10.0.0.0/8', '192.168.1.7', 'fd00::/8']);

it.each([
  ['a stranger says nothing', '203.0.113.9', undefined, '203.0.113.9'],
  ['a stranger names another', '203.0.113.9', '1.2.3.4', '203.0.113.9'],
  ['a proxy names the client', '10.1.1.1', '203.0.113.9', '203.0.113.9'],
  ['the client names another before', '10.1.1.1', '1.2.3.4, 203.0.113.9', '203.0.113.9'],
  ['several proxies', '10.1.1.1', '1.2.3.4, 203.0.113.9, 192.168.1.7, 10.2.2.2', '203.0.113.9'],
  ['only proxies', '10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
  ['a proxy says nothing', '10.1.1.1', undefined, '10.1.1.1'],
  ['a proxy says nonsense', '10.1.1.1', '1.2.3.4, unknown', '10.1.1.1'],
  ['IPv4 over a socket of both', '::ffff:10.1.1.1', '203.0.113.9', '203.0.113.9'],
  ['ports', '10.1.1.1', '203.0.113.9:5555', '203.0.113.9'],
  ['IPv6', 'fd00::1', '2001:db8::5', '2001:db8::5'],
  ['IPv6 with a port', 'fd00::1', '[2001:db8::5]:443', '2001:db8::5'],
])('%s', (_, remoteAddress, forwarded, expected) => {
  const request = { headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }, socket: { remoteAddress } };
  expect(clientAddress(request as never, TRUSTED)).toBe(expected);
});

it('trusts no proxy without ranges', () => {
  const request = { headers: { 'x-forwarded-for': '1.2.3.4' }, socket: { remoteAddress: '10.1.1.1' } };
  expect(clientAddress(request as never, trustedProxies([]))).toBe('10.1.1.1');
});
