import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScheduleFlush } from './flush-queue.ts';

export interface StreamOutputOptions {
  response: ServerResponse;
  /** Sent when nothing was for `keepAliveMs`, unless the reader is behind: the server cuts off who takes nothing for long. */
  keepAlive: string;
  keepAliveMs: number;
  /** When what is queued leaves; without it at the end of the event-loop turn. */
  schedule?: ScheduleFlush;
}

/** The way of a stream to its reader: at most one write per event-loop turn, back-pressure, keep-alive. */
export interface StreamOutput {
  /** Aborted when the reader has left, or was dropped. */
  gone: AbortSignal;
  /** Queues text; what is queued until the next flush leaves in one write. Does nothing once the reader is gone. */
  write(text: string): void;
  /** Null while the reader keeps up; else resolves when it has caught up or is gone. Do not pull from the source meanwhile. */
  blocked(): Promise<void> | null;
  /** Writes what is queued, ends the response, and resolves to whether the kernel took all of it. */
  end(): Promise<boolean>;
  /**
   * After the end: whether the reader has it all, as far as can be told. Who is cut off takes the connection along; one that
   * outlives the stream for `ms` is somebody's who read it.
   */
  outlived(ms: number): Promise<boolean>;
}

/** Wraps a response whose head was written; its reader may have left before. */
export function createStreamOutput({
  response,
  keepAlive,
  keepAliveMs,
  schedule = setImmediate,
}: StreamOutputOptions): StreamOutput {
  const controller = new AbortController();
  const { socket, shouldKeepAlive } = response;
  let queued = '';
  let isScheduled = false;
  let isEnded = false;
  let drained: { promise: Promise<void>; resolve(): void } | null = null;

  // looks when it fires, so that a write costs no timer
  let wroteAt = performance.now();
  let keepAliveTimer = setTimeout(checkSilence, keepAliveMs);

  response.on('drain', unblock);
  response.on('close', close);
  // a broken pipe is the reader's leaving, which `close` tells
  response.on('error', () => {});
  if (response.destroyed) close();

  function checkSilence(): void {
    const silentMs = performance.now() - wroteAt;
    const isSilent = silentMs + 1 >= keepAliveMs;
    if (isSilent && drained === null) write(keepAlive);
    keepAliveTimer = setTimeout(checkSilence, isSilent ? keepAliveMs : keepAliveMs - silentMs);
  }

  function close(): void {
    clearTimeout(keepAliveTimer);
    if (!response.writableFinished) controller.abort();
    unblock();
  }

  function unblock(): void {
    drained?.resolve();
    drained = null;
    flush();
  }

  function flush(): void {
    isScheduled = false;
    if (queued === '' || isEnded || drained !== null || controller.signal.aborted) return;
    const text = queued;
    queued = '';
    wroteAt = performance.now();
    if (!response.write(text)) drained = Promise.withResolvers<void>();
  }

  function write(text: string): void {
    if (text === '' || isEnded || controller.signal.aborted) return;
    queued += text;
    if (isScheduled) return;
    isScheduled = true;
    schedule(flush);
  }

  return {
    gone: controller.signal,
    write,
    blocked: () => drained?.promise ?? null,
    end() {
      if (controller.signal.aborted || response.destroyed) return Promise.resolve(false);
      flush();
      isEnded = true;
      clearTimeout(keepAliveTimer);
      return new Promise((resolve) => {
        response.once('close', () => resolve(response.writableFinished));
        response.end(queued);
      });
    },
    outlived(ms) {
      if (!response.writableFinished) return Promise.resolve(false);
      // nothing can be told of a connection that is closed from this side
      if (socket === null || !shouldKeepAlive) return Promise.resolve(true);
      if (socket.destroyed) return Promise.resolve(false);
      return outlives(socket, ms);
    },
  };
}

/** Whether a connection stays open for `ms` in which the event loop could hear of its end. */
async function outlives(socket: Socket, ms: number): Promise<boolean> {
  const closed = new AbortController();
  const onClose = () => closed.abort();
  socket.once('close', onClose);
  try {
    // a busy event loop fires one timer late and not ten: whatever waits in the kernel is read between them
    for (let slice = 0; slice < 10; slice += 1) await sleep(ms / 10, undefined, { signal: closed.signal });
    return true;
  } catch {
    return false;
  } finally {
    socket.off('close', onClose);
  }
}
