import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection between two processes that can fail, as a network does. */
export interface Link extends AsyncDisposable {
  /** Where the link is entered. */
  port: number;
  /** Ends every connection and takes no new ones. */
  cut(): void;
  /** Lets nothing through and tells nobody; what was sent meanwhile arrives when it heals. */
  freeze(): void;
  heal(): void;
}

type State = 'whole' | 'cut' | 'frozen';

/** Forwards every connection to a port of this machine. */
export async function openLink(targetPort: number): Promise<Link> {
  const sockets = new Set<Socket>();
  let state: State = 'whole';

  function join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.setNoDelay(true);
      from.on('data', (piece) => {
        if (!to.write(piece)) from.pause();
      });
      to.on('drain', () => state !== 'frozen' && from.resume());
      from.on('end', () => to.end());
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (state === 'frozen') from.pause();
    }
  }

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    if (state === 'cut') return void near.destroy();
    join(near, connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true }));
    if (state === 'whole') near.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.resetAndDestroy();
    },
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    heal() {
      state = 'whole';
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
