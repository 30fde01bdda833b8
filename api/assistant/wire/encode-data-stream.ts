import type { ReplyPart, RetrievedResult, StreamEncoder } from '../reply.ts';

interface DataStreamReply {
  messageId: string;
  threadId: string;
  question: string;
  results: RetrievedResult[];
  /** Whether the client sends `parts` (4.1.20 or later). Older ones end the stream at step, tool and source lines. */
  hasParts: boolean;
}

/** Longest content of a search result, in characters. Clients send the results back with every later request. */
const maxResultContentLength = 500;

/**
 * Creates the encoder of the v1 stream: the AI SDK v4 data stream protocol, one `<code>:<json>` per line (wire format,
 * sections 0, 2 and 7).
 */
export function createDataStreamEncoder(reply: DataStreamReply): StreamEncoder {
  const sources: { sourceType: 'url'; id: string; url: string; title: string }[] = [];
  const stepStart = `f:{"messageId":${JSON.stringify(reply.messageId)}}\n`;
  const finish = `{"type":"finish","threadId":${JSON.stringify(reply.threadId)}}`;
  let hasFailed = false;

  return {
    open: () => (reply.hasParts ? `${stepStart}${searchStep(reply)}${stepStart}` : ''),
    part(part: ReplyPart) {
      switch (part.type) {
        case 'text':
          return `0:${JSON.stringify(part.text)}\n`;
        case 'source':
          sources.push({ sourceType: 'url', id: part.source.id, url: part.source.url, title: part.source.title });
          return '';
        case 'citations':
          return `8:[${JSON.stringify({ type: 'citations', citations: part.citations })}]\n`;
        case 'follow-ups':
          return `8:[${JSON.stringify({ type: 'follow-ups', questions: part.questions })}]\n`;
        case 'failure':
          hasFailed = true;
          return `2:[${finish}]\n8:[${finish}]\n3:${JSON.stringify(part.message)}\n`;
      }
    },
    close({ inputTokens, outputTokens }) {
      const reason = hasFailed ? 'error' : 'stop';
      const usage = `"finishReason":"${reason}","usage":{"promptTokens":${inputTokens},"completionTokens":${outputTokens}}`;
      const end = `e:{${usage},"isContinued":false}\nd:{"type":"finish","threadId":${JSON.stringify(reply.threadId)},${usage}}\n`;
      // clients stop reading at `3:`
      if (hasFailed) return [end];
      const thread = `2:[${finish}]\n8:[${finish}]\n`;
      if (reply.hasParts) return [thread, `${sources.map((source) => `h:${JSON.stringify(source)}\n`).join('')}${end}`];
      const annotations = sources.map((source) => JSON.stringify({ type: 'source', source }));
      return [`${thread}${annotations.length === 0 ? '' : `8:[${annotations.join(',')}]\n`}${end}`];
    },
  };
}

/**
 * Encodes the retrieval as a tool call in a separate step. Within the step of the text, clients with `maxSteps` would
 * send another request.
 */
function searchStep({ question, results }: DataStreamReply): string {
  const result = results.map(({ content, path, url, title }) => ({
    content: content.slice(0, maxResultContentLength),
    path,
    url,
    metadata: { title },
  }));
  const call = JSON.stringify({ toolCallId: 'call_1', toolName: 'search', args: { query: question } });
  return [
    `9:${call}\n`,
    `a:${JSON.stringify({ toolCallId: 'call_1', result })}\n`,
    'e:{"finishReason":"tool-calls","usage":{"promptTokens":0,"completionTokens":0},"isContinued":false}\n',
  ].join('');
}
