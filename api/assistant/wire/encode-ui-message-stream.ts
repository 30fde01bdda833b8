import type { ReplyPart, StreamEncoder } from '../reply.ts';

const textId = 'txt_1';

/**
 * Creates the encoder of the v2 stream: Server-Sent Events that AI SDK 5.0.0 and later accept (wire format, sections 0,
 * 1 and 7). It sends no `finishReason` and no tool chunks: strict SDK versions end the stream at an unknown key.
 * @param showsThread also puts `threadId` at the top level of `finish`; only for clients other than the SDK
 */
export function createUiMessageEncoder(reply: {
  messageId: string;
  threadId: string;
  showsThread: boolean;
}): StreamEncoder {
  const threadId = JSON.stringify(reply.threadId);
  const metadata = `"messageMetadata":{"threadId":${threadId}}`;
  let isTextOpen = false;
  let hasFailed = false;

  const openText = () => {
    if (isTextOpen) return '';
    isTextOpen = true;
    return `data: {"type":"text-start","id":"${textId}"}\n\n`;
  };

  const closeText = () => {
    if (!isTextOpen) return '';
    isTextOpen = false;
    return `data: {"type":"text-end","id":"${textId}"}\n\n`;
  };

  return {
    open: () =>
      `: stream-open\n\ndata: {"type":"start","messageId":${JSON.stringify(reply.messageId)},${metadata}}\n\ndata: {"type":"start-step"}\n\n`,
    part(part: ReplyPart) {
      switch (part.type) {
        case 'text':
          return `${openText()}data: {"type":"text-delta","id":"${textId}","delta":${JSON.stringify(part.text)}}\n\n`;
        case 'source': {
          const { id, url, title } = part.source;
          return `data: {"type":"source-url","sourceId":${JSON.stringify(id)},"url":${JSON.stringify(url)},"title":${JSON.stringify(title)}}\n\n`;
        }
        case 'citations':
          // transient: it does not become a part of the message, which clients send back
          return `data: {"type":"data-citations","data":${JSON.stringify(part.citations)},"transient":true}\n\n`;
        case 'follow-ups':
          return `data: {"type":"data-follow-ups","data":${JSON.stringify(part.questions)},"transient":true}\n\n`;
        case 'failure':
          hasFailed = true;
          return `data: {"type":"error","errorText":${JSON.stringify(part.message)}}\n\n`;
      }
    },
    close() {
      const top = reply.showsThread ? `"threadId":${threadId},` : '';
      const step = hasFailed ? '' : `${closeText()}data: {"type":"finish-step"}\n\n`;
      return [`${step}data: {"type":"finish",${top}${metadata}}\n\ndata: [DONE]\n\n`];
    },
  };
}
