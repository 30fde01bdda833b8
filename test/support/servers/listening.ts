import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Listening {
  port: number;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Lets a server listen on a port of this machine, a free one by default. Disposing of it ends its connections. */
export async function listening(server: Server | SecureServer, wanted = 0): Promise<Listening> {
  server.listen(wanted, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
