import { marksOf } from './answer/answer-events.ts';
import type { ResumeHandle, Source } from './client.ts';
import type { AnswerAdditions, ChatMessage, ChatState, ChatStatus } from './chat-state.ts';
import { parseJson, stringIn, stringsOf, valueIn } from './unknown-fields.ts';

interface StoredConversation {
  state: ChatState;
  resume: ResumeHandle | null;
}

const statuses: ChatStatus[] = ['ready', 'submitted', 'streaming', 'error'];

export type ConversationStorage = ReturnType<typeof createConversationStorage>;

/** Keeps a conversation in the browser. A storage that is full or forbidden keeps nothing. */
export function createConversationStorage(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null,
  key: string,
) {
  return {
    load(): StoredConversation | null {
      try {
        return conversationOf(parseJson(storage?.getItem(key) ?? ''));
      } catch {
        return null;
      }
    },
    save(conversation: StoredConversation): void {
      try {
        storage?.setItem(key, JSON.stringify(conversation));
      } catch {
        // nothing is kept
      }
    },
    clear(): void {
      try {
        storage?.removeItem(key);
      } catch {
        // nothing was kept
      }
    },
  };
}

/** Other scripts of the page may have written the storage. */
function conversationOf(stored: unknown): StoredConversation | null {
  const state = valueIn(stored, 'state');
  const messages = valueIn(state, 'messages');
  const status = statuses.find((status) => status === valueIn(state, 'status'));
  if (!Array.isArray(messages) || status === undefined) return null;
  return {
    state: {
      messages: messages.flatMap(messageOf),
      status,
      error: stringIn(state, 'error'),
      threadId: stringIn(state, 'threadId'),
    },
    resume: handleOf(valueIn(stored, 'resume')),
  };
}

function handleOf(stored: unknown): ResumeHandle | null {
  const [chatId, token] = [stringIn(stored, 'chatId'), stringIn(stored, 'token')];
  return chatId === null || token === null ? null : { chatId, token };
}

function messageOf(stored: unknown): ChatMessage[] {
  const [id, role, text] = [stringIn(stored, 'id'), stringIn(stored, 'role'), stringIn(stored, 'text')];
  if (id === null || text === null || (role !== 'user' && role !== 'assistant')) return [];
  const sources = valueIn(stored, 'sources');
  return [
    {
      id,
      role,
      text,
      sources: Array.isArray(sources) ? sources.flatMap(sourceOf) : [],
      ...additionsOf(stored),
    },
  ];
}

/** Returns the stored parts of an answer other than its text and sources. */
export function additionsOf(stored: unknown): AnswerAdditions {
  const vote = stringIn(valueIn(stored, 'vote'), 'vote');
  return {
    marks: marksOf(valueIn(stored, 'marks')),
    followUps: stringsOf(valueIn(stored, 'followUps')),
    vote: vote === 'up' || vote === 'down' ? { vote } : null,
  };
}

function sourceOf(stored: unknown): Source[] {
  const [url, title] = [stringIn(stored, 'url'), stringIn(stored, 'title')];
  return url === null || title === null ? [] : [{ url, title }];
}
