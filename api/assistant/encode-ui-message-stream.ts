import type { ReplyPart, StreamEncoder } from './reply.ts';

const textId = 'txt_1';

/**
 * The v2 stream: Server-Sent Events that every AI SDK from 5.0.0 on accepts (wire format, sections 0, 1 and 7). No `finishReason`
 * and no tool chunks: the strict versions end the stream at a key they do not know.
 * @param showsThread puts `threadId` at the top of `finish` as well, for readers without the SDK only
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
