/** Networks outside the public internet (IANA's special-purpose registry), as [network, bits]. */
const privateNetworks: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

/**
 * Reports whether an IP address, as written by the resolver or the URL parser, is on the public internet. Of IPv6, only
 * global unicast addresses are, without the ranges that embed IPv4 addresses.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes(':')) return isPublicV6(address);
  const value = v4Value(address);
  return value !== null && !privateNetworks.some(([network, bits]) => isWithin(value, v4Value(network) ?? 0, bits));
}

function isWithin(value: number, network: number, bits: number): boolean {
  const size = 2 ** (32 - bits);
  return Math.floor(value / size) === Math.floor(network / size);
}

function v4Value(address: string): number | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(address)?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) return null;
  return parts.reduce((value, part) => value * 256 + part, 0);
}

function isPublicV6(address: string): boolean {
  // only the first two groups matter; with "::" at the front, an address is not in 2000::/3
  const [first, second] = leadingGroups(address);
  if (first === undefined || second === undefined || first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false; // Teredo and other protocols; documentation
  if (first === 0x2002) return false; // 6to4: an IPv4 address inside
  return first !== 0x3fff || second > 0xfff; // documentation
}

function leadingGroups(address: string): number[] {
  const [head = '', ...rest] = address.split('::');
  if (!/^[\da-fA-F:]+$/.test(head) || rest.length > 1) return [];
  const groups = head.split(':').map((group) => Number.parseInt(group, 16));
  if (groups.some((group) => !Number.isInteger(group) || group > 0xffff)) return [];
  return rest.length === 1 ? [...groups, 0] : groups;
}
