import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRaw } from './raw-connection.ts';
import { quantile } from './report.ts';

export interface PollLoad {
  port: number;
  /** Asked in turn, each connection beginning elsewhere; all answers have one length. */
  requests: string[];
  connections: number;
  seconds: number;
}

export interface PollLoadResult {
  answered: number;
  /** Answers other than 200. */
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
    const socket = openRaw(port, {
      onData(bytes) {
        if (missing === 0) {
          if (bytes.toString('latin1', 9, 12) !== '200') failed += 1;
          missing = lengthOf(bytes);
        }
        missing -= bytes.length;
        if (missing > 0) return;
        times.push(performance.now() - sentAt);
        if (!isOver) send();
      },
      onEnd() {
        sockets.delete(socket);
        // a server closes a connection after so many requests
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

/** Bytes of a whole answer. */
function lengthOf(bytes: Buffer): number {
  const headEnd = bytes.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString('latin1', 0, headEnd))?.[1];
  return headEnd + Number(length ?? 0);
}
