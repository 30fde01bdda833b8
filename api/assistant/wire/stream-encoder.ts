import type { ReplyRow } from '../../../db/sites/replies.ts';
import { createDataStreamEncoder } from './encode-data-stream.ts';
import { createUiMessageEncoder } from './encode-ui-message-stream.ts';
import type { Reply, StreamEncoder } from '../reply.ts';

/** Version of the endpoint, which determines the wire format. */
export type Protocol = ReplyRow['protocol'];

/** Text sent to keep an idle stream open. v4 clients fail at an SSE comment, but skip an empty line. */
export const keepAliveOf: Record<Protocol, string> = { v1: '\n', v2: ': keep-alive\n\n' };

export interface StreamClient {
  /** v1: whether the client sends `parts`. */
  hasParts: boolean;
  /** v2: whether the client is an AI SDK, which may reject `threadId` at the top level of `finish`. */
  isSdk: boolean;
}

type EncodedReply = Pick<Reply, 'messageId' | 'threadId' | 'question' | 'results'>;

export function createStreamEncoder(protocol: Protocol, reply: EncodedReply, client: StreamClient): StreamEncoder {
  return protocol === 'v1'
    ? createDataStreamEncoder({ ...reply, hasParts: client.hasParts })
    : createUiMessageEncoder({ ...reply, showsThread: !client.isSdk });
}

type EndedReply = Pick<ReplyRow, 'protocol' | 'threadId'>;

/** Returns the encoded end of a recorded reply whose writer was lost. */
export function lostTail(reply: EndedReply): string {
  const encoder = encoderOfEnd(reply);
  const failure = encoder.part({
    type: 'failure',
    message: 'The answer was interrupted because the service stopped. Ask again.',
  });
  return failure + endOf(encoder);
}

/** Returns the encoded end of a recorded reply that its reader stopped. */
export function stoppedTail(reply: EndedReply): string {
  return endOf(encoderOfEnd(reply));
}

function encoderOfEnd({ protocol, threadId }: EndedReply): StreamEncoder {
  const reply = { messageId: '', threadId, question: '', results: [] };
  return createStreamEncoder(protocol, reply, { hasParts: false, isSdk: true });
}

function endOf(encoder: StreamEncoder): string {
  return encoder.close({ inputTokens: 0, outputTokens: 0 }).join('');
}
