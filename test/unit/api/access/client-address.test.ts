import { describe, expect, it } from 'vitest';
import { addressKeyOf, clientAddressOf } from '../../../../api/access/client-address.ts';

describe('clientAddressOf', () => {
  it.each([
    ['the peer without proxies', { peer: '203.0.113.9', forwardedFor: undefined, trustedProxies: 0 }, '203.0.113.9'],
    [
      'the peer though a header claims another',
      { peer: '203.0.113.9', forwardedFor: '1.1.1.1', trustedProxies: 0 },
      '203.0.113.9',
    ],
    ['what the one proxy saw', { peer: '10.0.0.1', forwardedFor: '198.51.100.7', trustedProxies: 1 }, '198.51.100.7'],
    [
      'the right-most entry, not a forged left one',
      { peer: '10.0.0.1', forwardedFor: '1.1.1.1, 198.51.100.7', trustedProxies: 1 },
      '198.51.100.7',
    ],
    [
      'the second from the right behind two proxies',
      { peer: '10.0.0.1', forwardedFor: '1.1.1.1, 198.51.100.7, 10.0.0.2', trustedProxies: 2 },
      '198.51.100.7',
    ],
    [
      'the left-most of a chain that is too short',
      { peer: '10.0.0.1', forwardedFor: '198.51.100.7', trustedProxies: 3 },
      '198.51.100.7',
    ],
    [
      'the last valid hop before garbage',
      { peer: '10.0.0.1', forwardedFor: 'localhost; drop table, 10.0.0.2', trustedProxies: 2 },
      '10.0.0.2',
    ],
    [
      'the proxy when the header is missing',
      { peer: '10.0.0.1', forwardedFor: undefined, trustedProxies: 1 },
      '10.0.0.1',
    ],
    [
      'IPv4 out of its IPv6 form',
      { peer: '::ffff:203.0.113.9', forwardedFor: undefined, trustedProxies: 0 },
      '203.0.113.9',
    ],
    [
      'an entry without its port',
      { peer: '10.0.0.1', forwardedFor: '198.51.100.7:4711', trustedProxies: 1 },
      '198.51.100.7',
    ],
    [
      'an IPv6 entry without brackets and port',
      { peer: '10.0.0.1', forwardedFor: '[2001:db8::1]:443', trustedProxies: 1 },
      '2001:db8::1',
    ],
  ] as const)('is %s', (_, source, expected) => {
    expect(clientAddressOf(source)).toBe(expected);
  });

  it('returns unknown without an address', () => {
    expect(clientAddressOf({ peer: undefined, forwardedFor: undefined, trustedProxies: 0 })).toBe('unknown');
  });
});

describe('addressKeyOf', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['unknown', 'unknown'],
  ])('counts %s as %s', (address, key) => {
    expect(addressKeyOf(address)).toBe(key);
  });
});
