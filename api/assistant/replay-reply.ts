import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyRow, ReplyStore } from '../../db/sites/replies.ts';
import type { StreamOutput } from '../http/stream-output.ts';

export interface ReplayOptions {
  replies: ReplyStore;
  reply: ReplyRow;
  output: StreamOutput;
  /** What ends a reply whose writer died: the protocol's error and its regular end. */
  tail: string;
  /** A writer that shows no sign of life for so long is dead. */
  deadAfterSeconds: number;
  pollMs: number;
  /** A connection that outlives the reply for so long is somebody's who read it. */
  deliveredAfterMs: number;
}

/**
 * Sends a recorded reply from its first byte and follows it to its end, from any process. A reply whose writer died is ended
 * here, once for all that follow it.
 */
export async function replayReply(options: ReplayOptions): Promise<void> {
  const { replies, reply, output } = options;
  let position = 0;
  while (!output.gone.aborted) {
    const { chunks, ended, silentSeconds } = await replies.read(reply.id, position);
    for (const chunk of chunks) output.write(chunk);
    position += chunks.length;
    const blocked = output.blocked();
    if (blocked !== null) await blocked;
    if (ended) {
      const wasTaken = await output.end();
      if (wasTaken && (await output.outlived(options.deliveredAfterMs))) await replies.markDelivered(reply.id);
      return;
    }
    if (silentSeconds > options.deadAfterSeconds) {
      await replies.end({ id: reply.id, tail: options.tail });
      continue;
    }
    if (chunks.length === 0) await sleep(options.pollMs);
  }
}
