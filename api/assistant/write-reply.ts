import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplyRecorder } from './record-reply.ts';
import { closePauseMs } from './reply.ts';
import type { Reply, StreamEncoder } from './reply.ts';
import type { StreamOutput } from '../http/stream-output.ts';

export interface WriteOptions {
  reply: Reply;
  encoder: StreamEncoder;
  output: StreamOutput;
  recorder: ReplyRecorder | null;
  /** A connection that outlives the reply for so long is somebody's who read it. */
  deliveredAfterMs: number;
}

/**
 * Writes a reply to its reader, where there is a recorder through it. A reader that leaves ends the reply unless it is
 * recorded: then it runs on for whoever resumes it. Never throws for what the reader does.
 */
export async function writeReply({ reply, encoder, output, recorder, deliveredAfterMs }: WriteOptions): Promise<void> {
  const emit = recorder === null ? output.write : recorder.append;

  emit(encoder.open());
  await reply.run((part) => {
    emit(encoder.part(part));
    return output.blocked();
  });
  if (output.gone.aborted && recorder === null) return;

  const [first = '', ...others] = encoder.close(reply.usage());
  emit(first);
  for (const piece of others) {
    await recorder?.flush();
    await sleep(closePauseMs);
    emit(piece);
  }
  await recorder?.end();
  const wasTaken = await output.end();
  if (recorder !== null && wasTaken && (await output.outlived(deliveredAfterMs))) await recorder.delivered();
}
