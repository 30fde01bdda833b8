import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ReplyStore } from '../../db/sites/replies.ts';

/** Where the bytes of a reply are kept, so that it can be resumed. They reach the reader from here, once they are kept. */
export interface ReplyRecorder extends Disposable {
  append(text: string): void;
  /** Resolves when all that was appended has been kept and sent. */
  flush(): Promise<void>;
  /** Keeps what is left and marks the end. */
  end(): Promise<void>;
  /** The reader has all of it: there is nothing to resume. */
  delivered(): Promise<void>;
}

export interface ReplyRecorderOptions {
  replies: ReplyStore;
  id: string;
  logger: Logger;
  /** The way to the reader. */
  send(text: string): void;
  /** What ends the reply for its reader when its record was deleted. */
  tail: string;
  /** Called when somebody ended the reply in our place, because we were silent for too long. */
  onTakenOver(): void;
}

const batchMs = 50;
const heartbeatMs = 3_000;
const retryDelaysMs = [100, 200, 400, 800, 1_600];

/**
 * Keeps the bytes of a running reply in the database, in batches and in order. What a reader has seen is always the
 * beginning of what can be resumed, even when this process is killed. When the database stays away, recording stops: the
 * reader in front of the reply is served on, but nobody can resume it.
 */
export function createReplyRecorder(options: ReplyRecorderOptions): ReplyRecorder {
  const { replies, id, logger, send, tail, onTakenOver } = options;
  let buffered = '';
  let position = 0;
  let state: 'recording' | 'broken' | 'taken-over' = 'recording';
  let writing: Promise<void> | null = null;
  let hurry = new AbortController();

  const heartbeat = setInterval(() => {
    replies.heartbeat(id).catch(() => {});
  }, heartbeatMs);
  heartbeat.unref();

  /** Stores at once, then gathers for a while, until there is nothing more to store. */
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
        if (!(await persistently(() => replies.append({ id, position, data })))) return await hearTheEnd();
        position += 1;
      } catch (error) {
        state = 'broken';
        clearInterval(heartbeat);
        logger.warn({ err: error, reply: id }, 'a reply could not be recorded on');
      }
    }
    if (state !== 'taken-over') send(data);
  }

  /** The record is what counts: the reader gets the end that the others were given. */
  async function hearTheEnd(): Promise<void> {
    state = 'taken-over';
    clearInterval(heartbeat);
    onTakenOver();
    const { chunks } = await replies.read(id, position).catch(() => ({ chunks: [] }));
    for (const chunk of chunks.length === 0 ? [tail] : chunks) send(chunk);
  }

  async function flush(): Promise<void> {
    hurry.abort();
    await writing;
    hurry = new AbortController();
  }

  return {
    append(text) {
      if (text === '' || state === 'taken-over') return;
      buffered += text;
      writing ??= write();
    },
    flush,
    async end() {
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
    async delivered() {
      if (state !== 'recording') return;
      await replies.markDelivered(id).catch((error: unknown) => {
        logger.warn({ err: error, reply: id }, 'a reply could not be marked as delivered');
      });
    },
    [Symbol.dispose]: () => clearInterval(heartbeat),
  };
}

/** Through a short absence of the database: both statements may be repeated. */
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
