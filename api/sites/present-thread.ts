import { mostSources, type Thread } from '../../db/sites/threads.ts';
import type { PublicThread } from './thread-schemas.ts';

/** A conversation as the API shows it to an admin key. */
export function presentThread({ id, createdAt, messages, nextAfter }: Thread): PublicThread {
  return {
    threadId: id,
    createdAt: createdAt.toISOString(),
    messages: messages.map((message) => ({
      id: message.id,
      role: message.role,
      content: message.content,
      sources: message.sources.slice(0, mostSources).map(({ url, title }) => ({ url, title })),
      answered: message.answered,
      feedback: message.feedback,
      createdAt: message.createdAt.toISOString(),
    })),
    nextCursor: nextAfter,
  };
}
