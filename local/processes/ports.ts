import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { codeOf } from '../../lib/error-code.ts';

/** Ports below the kernel's range for outgoing connections, which can therefore never occupy one of them. */
const firstPort = 15_000;
const lastPort = 31_999;
const attempts = 200;

/** Reports whether a server can listen on the port now. */
export async function isPortFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port, host, exclusive: true }, resolve);
    });
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE' || codeOf(error) === 'EACCES') return false;
    throw error;
  }
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return true;
}

/** Returns a free port on loopback: `preferred` if it is free, otherwise a random one. */
export async function findFreePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isPortFree(preferred))) return preferred;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(firstPort, lastPort);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`No free port was found in ${attempts} attempts.`);
}
