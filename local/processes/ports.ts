import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { codeOf } from '../../lib/error-code.ts';
import { StartError } from '../start-error.ts';

/** Ports below the kernel's range for outgoing connections, which can therefore never occupy one of them. */
const firstPort = 15_000;
const lastPort = 31_999;
const attempts = 200;

/** Returns the code of the error that keeps a server from listening on the port now, or null when it can. */
async function obstacleOf(port: number, host: string): Promise<string | null> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, exclusive: true }, resolve);
    });
  } catch (error) {
    const code = codeOf(error);
    if (code === null) throw error;
    return code;
  }
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return null;
}

/** Reports whether a server can listen on the port of loopback now. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await obstacleOf(port, '127.0.0.1')) === null;
}

/** Throws StartError unless the API can listen on the port now. */
export async function checkPort(port: number, host: string): Promise<void> {
  const code = await obstacleOf(port, host);
  if (code === null) return;
  const sentences: Record<string, string> = {
    EADDRINUSE: `Port ${port} on ${host} is in use; stop the process that uses it, or set PORT to a free port.`,
    EACCES: `This account may not listen on port ${port}; set PORT to 1024 or more.`,
  };
  throw new StartError(
    sentences[code] ??
      `The API cannot listen on ${host} (${code}); set HOST to an address of this machine, such as 127.0.0.1.`,
  );
}

/** Reports whether browsers, and fetch, refuse to connect to a port (Fetch standard, "bad port"). */
export async function isPortBlocked(port: number): Promise<boolean> {
  try {
    await fetch(`http://127.0.0.1:${port}`, { method: 'HEAD', signal: AbortSignal.timeout(1_000) });
  } catch (error) {
    return error instanceof TypeError && error.cause instanceof Error && error.cause.message === 'bad port';
  }
  return false;
}

/** Ports that this process has reserved. */
const reserved = new Set<number>();

/**
 * Reserves a port until this process ends, by holding the UDP port of the same number, which no server of a stack uses.
 * A server listens only seconds after its port was chosen; without this, another stack could choose it, too.
 */
async function reserve(port: number): Promise<boolean> {
  const socket = createSocket('udp4').unref();
  socket.bind({ port, address: '127.0.0.1', exclusive: true });
  try {
    await once(socket, 'listening');
  } catch (error) {
    socket.close();
    if (codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES') return false;
    throw error;
  }
  reserved.add(port);
  return true;
}

/**
 * Returns a free port on loopback, which no other process gets from this function: `preferred` if it is free, otherwise
 * a random one.
 */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined) {
    const isOurs = reserved.has(preferred) || (await reserve(preferred));
    if (isOurs && (await isPortFree(preferred))) return preferred;
  }
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(firstPort, lastPort);
    if (!reserved.has(port) && (await reserve(port)) && (await isPortFree(port))) return port;
  }
  throw new Error(`No free port was found in ${attempts} attempts.`);
}
