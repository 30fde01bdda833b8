import { connect } from 'node:net';
import type { Socket } from 'node:net';

const bufferBytes = 65_536;

/** A connection that costs the load generator little: one buffer, no stream machinery. */
export function openRaw(port: number, { onData, onEnd }: { onData(bytes: Buffer): void; onEnd(): void }): Socket {
  const buffer = Buffer.allocUnsafe(bufferBytes);
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer,
      callback(length) {
        onData(buffer.subarray(0, length));
        return true;
      },
    },
  });
  socket.on('error', () => {});
  socket.on('close', onEnd);
  return socket;
}
