import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ReplyStore } from '../../db/sites/replies.ts';

export interface ReplyRecorderOptions {
  replies: ReplyStore;
  id: string;
  logger: Logger;
  send(text: string): void;
  /** End of the stream to send when the reply was taken over and no recorded end can be read. */
  tail: string;
  /** Called when the reply was ended elsewhere: by its reader, or because this process sent no heartbeat for too long. */
  onTakenOver(): void;
}

const batchMs = 50;
const heartbeatMs = 3_000;
const retryDelaysMs = [100, 200, 400, 800, 1_600];

/** Records the bytes of a reply so that it can be resumed. Bytes are sent to the reader after they are stored. */
export type ReplyRecorder = ReturnType<typeof createReplyRecorder>;

/**
 * Creates a recorder that stores the bytes of a running reply in the database, in batches and in order. What a reader
 * has seen is always a prefix of what can be resumed, even when this process is killed. If the database stays
 * unavailable, recording stops: the connected reader still gets the rest of the reply, but it can no longer be resumed.
 */
export function createReplyRecorder(options: ReplyRecorderOptions) {
  const { replies, id, logger, send, tail, onTakenOver } = options;
  let buffered = '';
  let position = 0;
  let state: 'recording' | 'broken' | 'taken-over' = 'recording';
  let writing: Promise<void> | null = null;
  let hurry = new AbortController();

  const heartbeat = setInterval(() => {
    // a reply may be stopped while its model is silent
    const isRunning = replies.heartbeat(id).catch(() => true);
    void isRunning.then((running) => running || onTakenOver());
  }, heartbeatMs);
  heartbeat.unref();

  /** Stores the buffer at once, then collects text for the next batch, until the buffer stays empty. */
  async function write(): Promise<void> {
    while (buffered !== '') {
      const data = buffered;
      buffered = '';
      await keep(data);
      await sleep(batchMs, undefined, { signal: hurry.signal }).catch(() => {});
    }
    writing = null;
  }

  async function keep(data: string): Promise<void> {
    if (state === 'recording') {
      try {
        if (!(await persistently(() => replies.append({ id, position, data })))) return await sendRecordedEnd();
        position += 1;
      } catch (error) {
        state = 'broken';
        clearInterval(heartbeat);
        logger.warn({ err: error, reply: id }, 'recording of a reply stopped');
      }
    }
    if (state !== 'taken-over') send(data);
  }

  /** Sends the recorded end, so that this reader sees the same end as those who resumed the reply. */
  async function sendRecordedEnd(): Promise<void> {
    state = 'taken-over';
    clearInterval(heartbeat);
    onTakenOver();
    const { chunks } = await replies.read(id, position).catch(() => ({ chunks: [] }));
    for (const chunk of chunks.length === 0 ? [tail] : chunks) send(chunk);
  }

  /** Resolves when everything appended so far has been stored and sent. */
  async function flush(): Promise<void> {
    hurry.abort();
    await writing;
    hurry = new AbortController();
  }

  return {
    append(text: string): void {
      if (text === '' || state === 'taken-over') return;
      buffered += text;
      writing ??= write();
    },
    flush,
    /** Stores the remaining bytes and marks the reply as ended. */
    async end(): Promise<void> {
      await flush();
      clearInterval(heartbeat);
      if (state !== 'recording') return;
      try {
        await persistently(() => replies.end({ id, tail: null }));
      } catch (error) {
        state = 'broken';
        logger.warn({ err: error, reply: id }, 'the end of a reply could not be recorded');
      }
    },
    /** Marks the reply as delivered, which leaves nothing to resume. */
    async delivered(): Promise<void> {
      if (state !== 'recording') return;
      await replies.markDelivered(id).catch((error: unknown) => {
        logger.warn({ err: error, reply: id }, 'a reply could not be marked as delivered');
      });
    },
    [Symbol.dispose]: () => clearInterval(heartbeat),
  };
}

/** Retries a statement to survive a short database outage. Both statements that use it are safe to repeat. */
async function persistently<T>(statement: () => Promise<T>): Promise<T> {
  for (const delayMs of retryDelaysMs) {
    try {
      return await statement();
    } catch {
      await sleep(delayMs);
    }
  }
  return statement();
}
