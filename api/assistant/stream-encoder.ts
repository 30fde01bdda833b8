import type { ReplyRow } from '../../db/sites/replies.ts';
import { createDataStreamEncoder } from './encode-data-stream.ts';
import { createUiMessageEncoder } from './encode-ui-message-stream.ts';
import type { Reply, StreamEncoder } from './reply.ts';

/** The version of the endpoint, which decides the wire format. */
export type Protocol = ReplyRow['protocol'];

/** What is sent when nothing was for a while: an SSE comment is fatal to every v4 client, an empty line is skipped. */
export const keepAliveOf: Record<Protocol, string> = { v1: '\n', v2: ': keep-alive\n\n' };

export interface StreamClient {
  /** v1: the client sends `parts`. */
  hasParts: boolean;
  /** v2: the client is an AI SDK, which may refuse a thread at the top of `finish`. */
  isSdk: boolean;
}

type EncodedReply = Pick<Reply, 'messageId' | 'threadId' | 'question' | 'results'>;

export function createStreamEncoder(protocol: Protocol, reply: EncodedReply, client: StreamClient): StreamEncoder {
  return protocol === 'v1'
    ? createDataStreamEncoder({ ...reply, hasParts: client.hasParts })
    : createUiMessageEncoder({ ...reply, showsThread: !client.isSdk });
}

/** Encodes the end of a recorded reply whose process was killed. */
export function lostTail({ protocol, threadId }: Pick<ReplyRow, 'protocol' | 'threadId'>): string {
  const reply = { messageId: '', threadId, question: '', results: [] };
  const encoder = createStreamEncoder(protocol, reply, { hasParts: false, isSdk: true });
  const failure = encoder.part({
    type: 'failure',
    message: 'The answer broke off because the service was interrupted. Please ask again.',
  });
  return [failure, ...encoder.close({ promptTokens: 0, completionTokens: 0 })].join('');
}
