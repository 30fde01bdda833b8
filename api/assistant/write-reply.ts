import { setTimeout as sleep } from 'node:timers/promises';
import { closePauseMs } from './reply.ts';
import type { Reply, StreamEncoder } from './reply.ts';
import type { StreamOutput } from './stream-output.ts';

/** Where the bytes of a reply are kept, so that it can be resumed. */
export interface ReplyRecorder {
  append(text: string): void;
  /** Stores what is left and marks the end; `wasDelivered`: the first reader took all of it. */
  end(wasDelivered: boolean): Promise<void>;
}

/**
 * Writes a reply to its reader and, where there is one, to its recorder. A reader that leaves ends the reply unless it is
 * recorded: then it runs on for whoever resumes it. Never throws for what the reader does.
 */
export async function writeReply({
  reply,
  encoder,
  output,
  recorder,
}: {
  reply: Reply;
  encoder: StreamEncoder;
  output: StreamOutput;
  recorder: ReplyRecorder | null;
}): Promise<void> {
  const emit = (text: string) => {
    output.write(text);
    if (text !== '') recorder?.append(text);
  };

  emit(encoder.open());
  for await (const part of reply.parts) {
    emit(encoder.part(part));
    if (output.gone.aborted && recorder === null) return;
    const blocked = output.blocked();
    if (blocked !== null) await blocked;
  }

  const [first = '', ...others] = encoder.close(reply.usage());
  emit(first);
  for (const piece of others) {
    await sleep(closePauseMs);
    emit(piece);
  }
  const wasDelivered = await output.end();
  await recorder?.end(wasDelivered);
}
