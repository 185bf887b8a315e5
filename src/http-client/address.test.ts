import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../test/support/deep.ts';
import { classifyAddress, isMetadataServer } from './address.ts';

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
    // Embedded in IPv6.
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '2002:a9fe:a9fe::1',
    '::ffff:0:a9fe:a9fe',
    '::ffff:0:169.254.169.254',
    '2001:0:a9fe:a9fe::1',
    '2001:0:808:808::5601:5601',
    '2606:4700::5efe:a9fe:a9fe',
    '2606:4700::200:5efe:a9fe:a9fe',
    '64:ff9b:1:a9fe:a9:fe00::',
    '64:ff9b:1:1a9:fe:a9fe::',
    '64:ff9b:1::a9:fea9:fe00:0',
    '64:ff9b:1::a9fe:a9fe',
    // Not addresses.
    '',
    'localhost',
    '169.254.169.254.example',
  ])('classifies %s as never', (address) => {
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
    '192.31.196.1',
    '192.52.193.1',
    '192.88.99.1',
    '192.175.48.1',
    '::ffff:0:a00:1',
    '64:ff9b:2::1',
    '100::1',
    '100:0:0:1::1',
    '2001:20::1',
    '2001:30::1',
    '2001:db8::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff:ffff::1',
    '4000::1',
    '5f00::1',
    '5f00:ffff::1',
    'fec0::1',
  ])('classifies %s as private', (address) => {
    expect(classifyAddress(address)).toBe('private');
  });

  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '169.253.255.255',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
    '2002:0808:0808::1',
    '::ffff:0:808:808',
    '64:ff9b::808:808',
    '2001:200::1',
    '2001:db7:ffff::1',
    '2620:4f:8001::1',
    '3fff:1000::1',
    '3ffe::1',
  ])('classifies %s as public', (address) => {
    expect(classifyAddress(address)).toBe('public');
  });

  const WORSE = ['public', 'private', 'never'];
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  const telling = fc.oneof(
    octets,
    fc.constantFrom([169, 254, 169, 254], [10, 0, 0, 1], [127, 0, 0, 1], [8, 8, 8, 8], [100, 100, 100, 200]),
  );
  const hex = (high: number, low: number): string => (high * 256 + low).toString(16);

  it('never classifies an embedded IPv4 address less strictly', () => {
    fc.assert(
      fc.property(telling, fc.nat(7), ([a = 0, b = 0, c = 0, d = 0], form) => {
        const [high, low] = [hex(a, b), hex(c, d)];
        const forms = [
          `::ffff:${high}:${low}`,
          `::FFFF:${a}.${b}.${c}.${d}`,
          `0:0:0:0:ffff:0:${high}:${low}`,
          `64:ff9b::${high}:${low}`,
          `2002:${high}:${low}:1::1`,
          `2001:0:${high}:${low}::f7f7:f7f7`,
          `2001:0:808:808::${hex(a ^ 255, b ^ 255)}:${hex(c ^ 255, d ^ 255)}`,
          `2a00:1::5efe:${a}.${b}.${c}.${d}`,
        ];
        const own = classifyAddress(`${a}.${b}.${c}.${d}`);
        const inside = classifyAddress(forms[form] as string);
        expect(WORSE.indexOf(inside)).toBeGreaterThanOrEqual(WORSE.indexOf(own));
      }),
      runs(3_000, 500),
    );
  });

  it('classifies every spelling of an address alike', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(0, 0xffff, 0x64, 0xff9b, 0x2001, 0x2002, 0x3fff), fc.nat(0xffff)), {
          minLength: 8,
          maxLength: 8,
        }),
        (groups) => {
          const long = groups.map((group) => group.toString(16).padStart(4, '0'));
          const short = new URL(`http://[${long.join(':')}]/`).hostname.slice(1, -1);
          const [g6, g7] = [groups[6] as number, groups[7] as number];
          const dotted = `${long.slice(0, 6).join(':')}:${g6 >> 8}.${g6 & 255}.${g7 >> 8}.${g7 & 255}`;
          const found = classifyAddress(long.join(':'));
          expect([short, dotted, long.join(':').toUpperCase(), `${short}%eth0`].map(classifyAddress)).toEqual([found, found, found, found]);
        },
      ),
      runs(3_000, 500),
    );
  });
});

it("recognises only link-local addresses and Google's as metadata servers", () => {
  for (const address of ['169.254.169.254', '169.254.169.252', 'fd20:ce::254']) expect(isMetadataServer(address)).toBe(true);
  for (const address of ['fd00:ec2::254', '100.100.100.200', '168.63.129.16', '10.0.0.1', 'metadata', ''])
    expect(isMetadataServer(address)).toBe(false);
});
