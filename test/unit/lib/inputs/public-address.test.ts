import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../../lib/inputs/public-address.ts';

describe('isPublicAddress', () => {
  it.each(['1.1.1.1', '8.8.8.8', '172.15.255.255', '172.32.0.0', '100.128.0.1', '223.255.255.255', '198.20.0.1'])(
    'accepts %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each(['2606:4700:4700::1111', '2a00:1450:4009:80b::200e', '2600::1', '3ffe::1'])('accepts %s', (address) =>
    expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.168.1.1',
    '198.19.255.255',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each([
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '100::1',
  ])('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['', 'localhost', '1.2.3', '1.2.3.256', '2606::1::2', '2606', 'g606::1', '12606::1'])(
    'refuses what is not an address: %s',
    (address) => expect(isPublicAddress(address)).toBe(false),
  );
});
