import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScheduleFlush } from './flush-queue.ts';

export interface StreamOutputOptions {
  response: ServerResponse;
  /** Text sent after `keepAliveMs` of silence, unless the client is behind: the server disconnects stalled clients. */
  keepAlive: string;
  keepAliveMs: number;
  /** Schedules a flush; defaults to `setImmediate`. */
  schedule?: ScheduleFlush;
}

/** Output of a stream to its reader: at most one write per event-loop turn, with backpressure and keep-alive. */
export interface StreamOutput {
  /** Aborts when the reader has disconnected or was dropped. */
  gone: AbortSignal;
  /** Queues text, which is sent in one write at the next flush. Does nothing once the reader is gone. */
  write(text: string): void;
  /**
   * Returns null while the reader keeps up. Otherwise returns a promise that resolves when the reader has caught up or
   * is gone; until then, do not pull from the source.
   */
  blocked(): Promise<void> | null;
  /** Flushes the queue, ends the response, and resolves to whether the kernel accepted all of it. */
  end(): Promise<boolean>;
  /**
   * Reports, after the end, whether the reader has probably received everything. A reader that is cut off loses its
   * connection, so one that stays open for another `ms` belongs to a reader that got it all.
   */
  outlived(ms: number): Promise<boolean>;
}

/** Wraps a response whose head has been written. Its reader may already have disconnected. */
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

  // the timer checks the silence when it fires, so that a write does not have to reset it
  let wroteAt = performance.now();
  let keepAliveTimer = setTimeout(checkSilence, keepAliveMs);

  response.on('drain', unblock);
  response.on('close', close);
  // a broken pipe means that the reader disconnected, which `close` reports
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
      // a connection closed from this side gives no evidence
      if (socket === null || !shouldKeepAlive) return Promise.resolve(true);
      if (socket.destroyed) return Promise.resolve(false);
      return outlives(socket, ms);
    },
  };
}

/** Reports whether a connection stays open for `ms` while the event loop can notice that it closes. */
async function outlives(socket: Socket, ms: number): Promise<boolean> {
  const closed = new AbortController();
  const onClose = () => closed.abort();
  socket.once('close', onClose);
  try {
    // a busy event loop may delay one timer but not ten; events waiting in the kernel are read between them
    for (let slice = 0; slice < 10; slice += 1) await sleep(ms / 10, undefined, { signal: closed.signal });
    return true;
  } catch {
    return false;
  } finally {
    socket.off('close', onClose);
  }
}
