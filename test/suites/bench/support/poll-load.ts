import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRaw } from './raw-connection.ts';
import { quantile } from './report.ts';

export interface PollLoad {
  port: number;
  /** Requested in turn, each connection starting elsewhere; all responses have the same length. */
  requests: string[];
  connections: number;
  seconds: number;
}

export interface PollLoadResult {
  answered: number;
  /** Responses other than 200. */
  failed: number;
  seconds: number;
  p50: number;
  p99: number;
}

/** Keeps one request in flight on each connection. */
export async function runPollLoad({ port, requests, connections, seconds }: PollLoad): Promise<PollLoadResult> {
  const buffers = requests.map((request) => Buffer.from(request));
  const sockets = new Set<Socket>();
  const times: number[] = [];
  let failed = 0;
  let isOver = false;

  function run(connection: number): void {
    let next = Math.floor((connection * buffers.length) / connections);
    let sentAt = 0;
    let missing = 0;
    let isLast = false;
    const socket = openRaw(port, {
      onData(bytes) {
        if (missing === 0) {
          const head = headOf(bytes);
          if (!head.startsWith('HTTP/1.1 200 ')) failed += 1;
          // a server ends a connection after a number of requests, and says so: one sent after that is refused
          isLast = /\r\nconnection: close\r\n/i.test(head);
          missing = head.length + lengthOf(head);
        }
        missing -= bytes.length;
        if (missing > 0) return;
        times.push(performance.now() - sentAt);
        if (!isOver && !isLast) send();
      },
      onEnd() {
        sockets.delete(socket);
        if (!isOver) run(connection);
      },
    });
    sockets.add(socket);
    const send = () => {
      sentAt = performance.now();
      next = (next + 1) % buffers.length;
      socket.write(buffers[next]!);
    };
    send();
  }

  for (let connection = 0; connection < connections; connection += 1) run(connection);
  const from = performance.now();
  await sleep(seconds * 1_000);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return {
    answered: times.length,
    failed,
    seconds: (performance.now() - from) / 1_000,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

function headOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, bytes.indexOf('\r\n\r\n') + 4);
}

/** Bytes of a body. */
function lengthOf(head: string): number {
  return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
