import { createServer, request as requestHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, isIP, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answerTo } from '../../lib/network/answer-to.ts';
import { createLookup, PrivateAddressError } from '../../lib/network/public-lookup.ts';
import { isRunHost, type SandboxNetwork } from './network.ts';

export interface ProxyLimits {
  /** Maximum number of concurrent connections from the command, and of as many to hosts. */
  connections: number;
  /** Total for both directions of all connections, those of the command and those to hosts. */
  bytes: number;
  connectMs: number;
  /** Longest time a connection may be idle. */
  idleMs: number;
}

interface Target {
  host: string;
  port: number;
}

const usualLimits: ProxyLimits = { connections: 64, bytes: 2 ** 30, connectMs: 15_000, idleMs: 120_000 };
const maxListed = 10;
const lookEveryMs = 100;
/** Hop-by-hop headers (RFC 9110, 7.6.1), and headers that carry proxy credentials. */
const hopHeaders = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);

/** Why a request is refused, with the response status. */
class Refusal extends Error {
  readonly status: 403 | 502 | 503;
  constructor(status: 403 | 502 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

/** Proxy for one command to the hosts that it may reach; disposing of it ends all its connections. */
export type CommandProxy = ReturnType<typeof serveProxy>;

/**
 * Serves requests for other hosts on a socket in a sandbox's network: `CONNECT`, and absolute `http://` URLs. Each
 * request goes to a checked address over a separate connection, and carries only what the command sent.
 */
export function serveProxy(listener: Server, { hosts, egress }: SandboxNetwork, limits: ProxyLimits = usualLimits) {
  const closing = new AbortController();
  const sockets = new Set<Socket>();
  const refused = new Set<string>();
  let bytesOfEnded = 0;
  let isSpent = false;
  let isCrowded = false;
  /** Connections to hosts, counted from before they are established until they have ended. */
  let reaching = 0;

  function hold(socket: Socket): Socket {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.setTimeout(limits.idleMs, () => void socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      bytesOfEnded += socket.bytesRead + socket.bytesWritten;
    });
    if (closing.signal.aborted) socket.destroy();
    return socket;
  }

  function look(): void {
    const bytes = [...sockets].reduce((sum, one) => sum + one.bytesRead + one.bytesWritten, bytesOfEnded);
    if (bytes <= limits.bytes) return;
    isSpent = true;
    close();
  }

  function close(): void {
    clearInterval(looking);
    closing.abort();
    listener.close();
    server.close();
    for (const socket of sockets) socket.destroy();
  }

  /** Connects to a permitted host. Throws Refusal. */
  async function reach({ host, port }: Target): Promise<Socket> {
    const target = `${host.slice(0, 100)}:${port}`;
    if (!isRunHost(hosts, host, port)) {
      if (refused.size < maxListed) refused.add(target);
      throw new Refusal(403, `Commands cannot reach ${target}, only ${hosts.join(', ')}.`);
    }
    if (reaching >= limits.connections) {
      isCrowded = true;
      throw new Refusal(503, 'Too many connections are open.');
    }
    reaching += 1;
    try {
      const socket = hold(await connectedTo({ host, port }));
      socket.once('close', () => (reaching -= 1));
      return socket;
    } catch (error) {
      reaching -= 1;
      if (!(error instanceof PrivateAddressError)) throw new Refusal(502, `${target} cannot be reached.`);
      if (refused.size < maxListed) refused.add(`${target} (a private address)`);
      throw new Refusal(403, `${target} resolves to a private address.`);
    }
  }

  async function connectedTo({ host, port }: Target): Promise<Socket> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(limits.connectMs)]);
    const addresses = await egress.addressesOf(new URL(`https://${host}:${port}`), signal);
    return await connected({ host, port, addresses, signal });
  }

  async function tunnel({ url = '' }: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    client.on('error', () => undefined);
    try {
      const server = await reach(targetOf(URL.parse(`https://${url}`)));
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.write(head);
      await pipeline(client, server, client).catch(() => undefined);
    } catch (error) {
      const { status, message } = refusalOf(error);
      client.end(`HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${message}\n`);
    }
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const url = URL.parse(request.url ?? '');
      if (url?.protocol !== 'http:') throw new Refusal(403, 'Send the proxy an http:// address or CONNECT.');
      const socket = await reach(targetOf(url));
      const answer = await ask(request, url, socket);
      response.writeHead(answer.statusCode ?? 502, withoutHops(answer));
      await pipeline(answer, response);
    } catch (error) {
      const { status, message } = refusalOf(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${message}\n`);
    }
  }

  const server = createServer({ keepAliveTimeout: 1_000 }, (request, response) => void forward(request, response));
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => void tunnel(request, client, head));
  server.on('clientError', (_error, socket) => void socket.destroy());
  const looking = setInterval(look, lookEveryMs).unref();
  listener.maxConnections = limits.connections;
  listener.on('connection', (socket: Socket) => server.emit('connection', hold(socket)));
  listener.on('drop', () => (isCrowded = true));
  listener.on('error', () => undefined);

  return {
    /** Refused requests, as sentences for the model. */
    notes(): string[] {
      const unreached = `The network does not reach ${[...refused].join(', ')}: commands can reach only ${hosts.join(', ')}.`;
      const spent = 'The network was closed: the command exceeded its limit of bytes sent and received.';
      const crowded = `The network refused connections: no more than ${limits.connections} may be open at once.`;
      return [...(refused.size > 0 ? [unreached] : []), ...(isSpent ? [spent] : []), ...(isCrowded ? [crowded] : [])];
    },
    [Symbol.dispose]: close,
  };
}

/** Returns the host and port of a URL, in the parser's normalized form. Throws Refusal. */
function targetOf(url: URL | null): Target {
  if (url === null || url.hostname === '' || url.username !== '' || url.password !== '')
    throw new Refusal(403, 'The host name is malformed.');
  return { host: url.hostname, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) };
}

function connected({
  host,
  port,
  addresses,
  signal,
}: Target & { addresses: string[]; signal: AbortSignal }): Promise<Socket> {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({ host, port, lookup: createLookup((_name, done) => done(null, found)), noDelay: true });
  const stop = () => void socket.destroy(new Error('It took too long.'));
  signal.addEventListener('abort', stop, { once: true });
  return new Promise<Socket>((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => resolve(socket.off('error', reject)));
  }).finally(() => signal.removeEventListener('abort', stop));
}

/** Forwards a request to the host of the connection, regardless of its own Host header. */
function ask(request: IncomingMessage, url: URL, socket: Socket): Promise<IncomingMessage> {
  const headers = { ...withoutHops(request), host: url.host, connection: 'close' };
  const upstream = requestHttp({
    createConnection: () => socket,
    method: request.method,
    path: `${url.pathname}${url.search}`,
    headers,
  });
  void pipeline(request, upstream).catch(() => socket.destroy());
  return answerTo(upstream);
}

function withoutHops({ headers }: IncomingMessage): Record<string, string | string[]> {
  const named = (headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const kept = Object.entries(headers).filter(([name]) => !hopHeaders.has(name) && !named.includes(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function refusalOf(error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal(502, 'The host does not answer.');
}
