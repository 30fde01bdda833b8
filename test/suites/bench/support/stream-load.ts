import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { lagsOf, sharedNowMs } from './delta-clock.ts';
import { openRaw } from './raw-connection.ts';
import { quantile } from './report.ts';

export interface StreamLoad {
  port: number;
  /** The whole request. */
  request: string;
  streams: number;
  seconds: number;
  /** The streams start one after another within this time, which is not measured. */
  rampSeconds: number;
  /** Waits for the streams that are open at the end, and counts them; otherwise they are cut off. */
  isDrained?: boolean;
}

export interface StreamLoadResult {
  finished: number;
  /** Responses that were not streams, and streams that broke. */
  failed: number;
  /** What the first of them answered. */
  failure: string | null;
  /** Marked deltas that arrived, extrapolated from the sampled connections. */
  deltas: number;
  seconds: number;
  firstByteP50: number;
  firstByteP99: number;
  lagP50: number;
  lagP99: number;
}

/** The output of every n-th connection is read; of the others only the start and the end. */
const readEvery = 4;
const lastChunk = Buffer.from('0\r\n\r\n');
const maxFailureLength = 1_000;

/** Keeps this many streams open, each followed by the next, and measures them after the ramp-up. */
export async function runStreamLoad(load: StreamLoad): Promise<StreamLoadResult> {
  const request = Buffer.from(load.request);
  const result: Pick<StreamLoadResult, 'finished' | 'failed' | 'failure'> = { finished: 0, failed: 0, failure: null };
  const firstBytes: number[] = [];
  const lags: number[] = [];
  const sockets = new Map<Socket, () => number | null>();
  const allClosed = Promise.withResolvers<void>();
  let isMeasuring = false;
  let isOver = false;
  let isCut = false;

  function runSlot(slot: number): void {
    if (isOver) return;
    let sentAt = 0;
    let isFirst = true;
    const tail = Buffer.alloc(lastChunk.length);
    const isRead = slot % readEvery === 0;
    const socket = openRaw(load.port, {
      onData(bytes) {
        const now = sharedNowMs();
        if (isFirst) {
          isFirst = false;
          if (isMeasuring) firstBytes.push(now - sentAt);
          if (bytes.toString('latin1', 9, 12) !== '200') {
            result.failure ??= bytes.toString('latin1', 0, maxFailureLength);
            return socket.destroy(); // counted when it has closed
          }
        }
        if (isRead && isMeasuring) lags.push(...lagsOf(bytes.toString('latin1'), now));
        keepTail(tail, bytes);
        if (!tail.equals(lastChunk)) return;
        if (isMeasuring) result.finished += 1;
        if (!isOver) send();
        else socket.destroy();
      },
      onEnd() {
        sockets.delete(socket);
        if (isOver && sockets.size === 0) allClosed.resolve();
        // the server closes a connection after a number of requests, between two of them
        if (!isFirst && !tail.equals(lastChunk) && !isCut) {
          result.failed += 1;
          result.failure ??= 'The connection ended within a stream.';
        }
        if (!isOver) setTimeout(runSlot, 1, slot);
      },
    });
    sockets.set(socket, () => (isFirst ? sentAt : null));
    const send = () => {
      isFirst = true;
      tail.fill(0);
      sentAt = sharedNowMs();
      socket.write(request);
    };
    send();
  }

  const pauseMs = (load.rampSeconds * 1_000) / load.streams;
  const startedAt = sharedNowMs();
  for (let slot = 0; slot < load.streams; slot += 1) {
    const waitMs = startedAt + slot * pauseMs - sharedNowMs();
    if (waitMs >= 1) await sleep(waitMs);
    runSlot(slot);
  }
  const rest = startedAt + load.rampSeconds * 1_000 - sharedNowMs();
  if (rest > 0) await sleep(rest);
  isMeasuring = true;
  const measuredFrom = sharedNowMs();
  await sleep(load.seconds * 1_000);
  isOver = true;
  if (load.isDrained === true && sockets.size > 0) await allClosed.promise;
  isMeasuring = false;
  isCut = true;
  const seconds = (sharedNowMs() - measuredFrom) / 1_000;
  for (const [socket, waitingSince] of sockets) {
    // a stream still without a first byte has waited at least this long
    const sentAt = waitingSince();
    if (sentAt !== null) firstBytes.push(sharedNowMs() - sentAt);
    socket.destroy();
  }
  return {
    ...result,
    deltas: lags.length * readEvery,
    seconds,
    firstByteP50: quantile(firstBytes, 0.5),
    firstByteP99: quantile(firstBytes, 0.99),
    lagP50: quantile(lags, 0.5),
    lagP99: quantile(lags, 0.99),
  };
}

/** The last bytes of a connection, even if they came in several reads. */
function keepTail(tail: Buffer, bytes: Buffer): void {
  if (bytes.length >= tail.length) bytes.copy(tail, 0, bytes.length - tail.length);
  else Buffer.concat([tail, bytes]).copy(tail, 0, bytes.length);
}
