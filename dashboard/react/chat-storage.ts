import type { UIMessage } from 'ai';
import type { AnswerAdditions } from '../widget/chat-state.ts';
import { additionsOf } from '../widget/conversation-storage.ts';
import { parseJson, stringIn, valueIn } from '../widget/unknown-fields.ts';

interface StoredChat {
  messages: UIMessage[];
  /** By the id of their message. */
  additions: Record<string, AnswerAdditions>;
}

/** Keeps a chat, and the secret that resumes its answer in progress, until the tab is closed, or the page without storage. */
export interface ChatStorage {
  load(): StoredChat;
  save(chat: StoredChat): void;
  token(): string | null;
  keepToken(token: string): void;
  forgetToken(): void;
  clear(): void;
}

export function createChatStorage(key: string): ChatStorage {
  const tokenKey = `${key}:resume`;
  /** Storage may be full, forbidden, or absent on a server. */
  const attempt = <T>(use: (storage: Storage) => T): T | null => {
    try {
      return use(sessionStorage);
    } catch {
      return null;
    }
  };
  let token = attempt((storage) => storage.getItem(tokenKey));
  return {
    load() {
      const stored = parseJson(attempt((storage) => storage.getItem(key)) ?? '');
      const messages = valueIn(stored, 'messages');
      const additions = valueIn(stored, 'additions');
      const known = Array.isArray(messages) ? messages.filter(isMessage) : [];
      return {
        messages: known,
        additions: Object.fromEntries(known.map(({ id }) => [id, additionsOf(valueIn(additions, id))])),
      };
    },
    save: (chat) => void attempt((storage) => storage.setItem(key, JSON.stringify(chat))),
    token: () => token,
    keepToken(received) {
      token = received;
      attempt((storage) => storage.setItem(tokenKey, received));
    },
    forgetToken() {
      token = null;
      attempt((storage) => storage.removeItem(tokenKey));
    },
    clear: () => void attempt((storage) => storage.removeItem(key)),
  };
}

/** Other scripts of the page may have written the storage. */
function isMessage(stored: unknown): stored is UIMessage {
  const parts = valueIn(stored, 'parts');
  const role = stringIn(stored, 'role');
  return (
    stringIn(stored, 'id') !== null &&
    (role === 'user' || role === 'assistant') &&
    Array.isArray(parts) &&
    parts.every(
      (part) =>
        stringIn(part, 'type') !== null && (valueIn(part, 'type') !== 'text' || stringIn(part, 'text') !== null),
    )
  );
}
