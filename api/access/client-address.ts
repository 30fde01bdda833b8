import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { IncomingMessage } from 'node:http';

export interface AddressSource {
  /** The peer of the connection. */
  peer: string | undefined;
  forwardedFor: string | undefined;
  /** Proxies of ours in front of the API; each appends the address it was called from. */
  trustedProxies: number;
}

/** The address of the client. X-Forwarded-For counts from the right, and only as far as proxies of ours wrote it. */
export function clientAddressOf({ peer, forwardedFor, trustedProxies }: AddressSource): string {
  const hops = [...(forwardedFor ?? '').split(','), peer ?? ''].map(plainAddress);
  let address = hops.at(-1) ?? '';
  for (let step = 1; step <= trustedProxies; step += 1) {
    const hop = hops.at(-1 - step);
    if (hop === undefined || isIP(hop) === 0) break; // nobody of ours wrote that
    address = hop;
  }
  return address === '' ? 'unknown' : address;
}

/** What limits are counted by: an IPv4 address, or the /64 network of an IPv6 address, which one client has to itself. */
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

/** Reads the limit key of a request's client. */
export function createAddressReader({
  trustedProxies,
}: {
  trustedProxies: number;
}): (request: IncomingMessage) => string {
  const known = new WeakMap<Socket, string>();

  /** Without proxies the peer's, which is the same for all requests of a connection. */
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
