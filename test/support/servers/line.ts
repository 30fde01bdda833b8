import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

export interface Line extends AsyncDisposable {
  port: number;
  /** Breaks all connections, until `mend`. */
  cut(): void;
  mend(): void;
}

/** A TCP line to a server that can be cut. It keeps its port while it is cut, so that no other process can take it. */
export async function openLine(target: { hostname: string; port: string }, { isCut = false } = {}): Promise<Line> {
  const state = { isCut };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    near.on('error', () => undefined);
    if (state.isCut) {
      near.destroy();
      return;
    }
    const far = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  function cut(): void {
    state.isCut = true;
    for (const socket of sockets) socket.destroy();
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    mend: () => {
      state.isCut = false;
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
