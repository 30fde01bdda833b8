import type { UIMessage } from 'ai';
import { parseJson, stringIn, valueIn } from '../widget/unknown-fields.ts';

/** Keeps a chat, and the secret that resumes its answer in progress, until the tab is closed. */
export interface ChatStorage {
  load(): UIMessage[];
  save(messages: UIMessage[]): void;
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
  return {
    load() {
      const stored = parseJson(attempt((storage) => storage.getItem(key)) ?? '');
      return Array.isArray(stored) ? stored.filter(isMessage) : [];
    },
    save: (messages) => void attempt((storage) => storage.setItem(key, JSON.stringify(messages))),
    token: () => attempt((storage) => storage.getItem(tokenKey)),
    keepToken: (token) => void attempt((storage) => storage.setItem(tokenKey, token)),
    forgetToken: () => void attempt((storage) => storage.removeItem(tokenKey)),
    clear() {
      attempt((storage) => {
        storage.removeItem(key);
        storage.removeItem(tokenKey);
      });
    },
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
