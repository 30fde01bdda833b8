import type { Logger } from 'pino';
import type { ReplyStore } from '../../db/replies.ts';
import type { ReplyRecorder } from './write-reply.ts';

const longestWaitMs = 50;
const longestBuffer = 16_384;
const heartbeatMs = 3_000;

/**
 * Keeps the bytes of a running reply in the database, in batches and in order. When the database fails, recording stops and
 * `failed` is called: the reader in front of the reply is served on, but nobody can resume it.
 */
export function createReplyRecorder({
  replies,
  id,
  logger,
}: {
  replies: ReplyStore;
  id: string;
  logger: Logger;
}): ReplyRecorder {
  let buffered = '';
  let position = 0;
  let timer: NodeJS.Timeout | null = null;
  let isBroken = false;
  let writing: Promise<void> = Promise.resolve();

  const heartbeat = setInterval(() => {
    replies.heartbeat(id).catch(() => {});
  }, heartbeatMs);
  heartbeat.unref();

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (buffered === '' || isBroken) return;
    const data = buffered;
    buffered = '';
    writing = writing.then(() => store(data));
  }

  async function store(data: string): Promise<void> {
    if (isBroken) return;
    try {
      // false: somebody ended the reply in our place, because we were silent for too long
      if (!(await replies.append({ id, position, data }))) isBroken = true;
      position += 1;
    } catch (error) {
      isBroken = true;
      logger.warn({ err: error, reply: id }, 'a reply could not be recorded on');
    }
  }

  return {
    append(text) {
      if (isBroken) return;
      buffered += text;
      if (buffered.length >= longestBuffer) flush();
      else timer ??= setTimeout(flush, longestWaitMs);
    },
    async end(wasDelivered) {
      clearInterval(heartbeat);
      flush();
      await writing;
      if (isBroken) return;
      try {
        await replies.end({ id, tail: null });
        if (wasDelivered) await replies.markDelivered(id);
      } catch (error) {
        logger.warn({ err: error, reply: id }, 'the end of a reply could not be recorded');
      }
    },
  };
}
