import { describe, expect, it } from 'vitest';
import { classifyAddress } from './address.ts';

describe('classifyAddress', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'fd00:ec2::254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    // the same inside of IPv6
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '2002:a9fe:a9fe::1',
    // no addresses at all
    '',
    'localhost',
    '169.254.169.254.example',
  ])('%s is never called', (address) => {
    expect(classifyAddress(address)).toBe('never');
  });

  it.each([
    '127.0.0.1',
    '127.255.255.255',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:0a00:0001::',
    '2001:0:1::1',
  ])('%s is private', (address) => {
    expect(classifyAddress(address)).toBe('private');
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '169.253.255.255', '2606:4700::1111', '::ffff:8.8.8.8', '2002:0808:0808::1'])(
    '%s is public',
    (address) => {
      expect(classifyAddress(address)).toBe('public');
    },
  );
});
