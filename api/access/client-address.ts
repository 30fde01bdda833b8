import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';

export interface AddressSource {
  /** Address of the connection's peer. */
  peer: string | undefined;
  forwardedFor: string | undefined;
  /** Number of trusted proxies in front of the API. Each appends the address of its caller. */
  trustedProxies: number;
}

/** Returns the client's address. X-Forwarded-For is read from the right, as far as trusted proxies wrote it. */
export function clientAddressOf({ peer, forwardedFor, trustedProxies }: AddressSource): string {
  const hops = [...(forwardedFor ?? '').split(','), peer ?? ''].map(plainAddress);
  let address = hops.at(-1) ?? '';
  for (let step = 1; step <= trustedProxies; step += 1) {
    const hop = hops.at(-1 - step);
    if (hop === undefined || isIP(hop) === 0) break; // not written by a trusted proxy
    address = hop;
  }
  return address === '' ? 'unknown' : address;
}

/** Returns the rate-limit key of an address: an IPv4 address as it is, or the /64 network of an IPv6 client. */
export function addressKeyOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: zeros }, () => '0'), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Creates a function that returns the rate-limit key of a request's client. */
export function createAddressReader({
  trustedProxies,
}: {
  trustedProxies: number;
}): (request: IncomingMessage) => string {
  const known = new WeakMap<Socket, string>();

  /** Returns the peer's rate-limit key, which is the same for all requests of a connection. */
  function addressOfPeer(socket: Socket): string {
    const found = known.get(socket);
    if (found !== undefined) return found;
    const address = addressKeyOf(
      clientAddressOf({ peer: socket.remoteAddress, forwardedFor: undefined, trustedProxies }),
    );
    known.set(socket, address);
    return address;
  }

  return (request) => {
    if (trustedProxies === 0) return addressOfPeer(request.socket);
    const header = request.headers['x-forwarded-for'];
    const forwardedFor = Array.isArray(header) ? header.join(',') : header;
    return addressKeyOf(clientAddressOf({ peer: request.socket.remoteAddress, forwardedFor, trustedProxies }));
  };
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]));
}

function plainAddress(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text;
  const withoutPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bracketed)?.[1] ?? bracketed;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(withoutPort)?.[1] ?? withoutPort;
}
