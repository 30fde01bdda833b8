import { plain } from '../plain.ts';
import type { ChatMessage } from '../widget/chat-state.ts';

/** Makes hidden characters in a message visible. */
export function plainMessage(message: ChatMessage): ChatMessage {
  return {
    ...message,
    text: plain(message.text),
    sources: message.sources.map(({ url, title }) => ({ url, title: plain(title) })),
    marks: message.marks.map(({ text, passages, unsupported }) => ({
      text: plain(text),
      passages: passages.map((passage) => ({ ...passage, title: plain(passage.title) })),
      unsupported: unsupported.map(plain),
    })),
    followUps: message.followUps.map(plain),
  };
}
