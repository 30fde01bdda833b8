import { createListeners } from './listeners.ts';
import { AnswerError, type Answer, type Client, type QuestionContext, type ResumeHandle } from './client.ts';
import type { AnswerEvent } from './answer/answer-events.ts';
import { createConversationStorage, type ConversationStorage } from './conversation-storage.ts';
import { interrupted, resumeWaits, unreachable } from './resume-waits.ts';
import { newId } from './new-id.ts';
import type { ChatMessage, ChatState, Vote } from './chat-state.ts';

export type { ChatMessage, ChatState, ChatStatus, Vote } from './chat-state.ts';

export interface AskOptions {
  context?: QuestionContext[];
  currentPath?: string;
}

/** A conversation with the assistant, for any user interface: read the state, subscribe, act. */
export interface Conversation {
  /** Returns the state. It is a new object after each change and never mutated. */
  state(): ChatState;
  /** Calls back after each change. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void;
  /** Asks a question. Resolves when its answer has ended; failures are in the state. */
  ask(question: string, options?: AskOptions): Promise<void>;
  /** Replaces an earlier question and everything after it. */
  edit(messageId: string, question: string, options?: AskOptions): Promise<void>;
  /** Continues the answer that was in progress when the page was left. */
  resume(): Promise<void>;
  /** Ends the answer in progress; its text so far is kept. */
  stop(): void;
  rate(messageId: string, vote: Vote): Promise<void>;
  /** Forgets the conversation. */
  clear(): void;
}

export interface ConversationOptions {
  client: Client;
  /** Where the conversation is kept over a reload, for example `sessionStorage`. Without it, nothing is kept. */
  storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
  /** Name in the storage; by default one for the site of the client. */
  storageKey?: string;
}

const empty: ChatState = { messages: [], status: 'ready', error: null, threadId: null };
/** Messages of a long conversation that are sent with a question. */
const maxSentMessages = 20;

/** Creates a conversation, restored from the storage. Call `resume` to continue an answer that was in progress. */
export function createConversation({ client, storage, storageKey }: ConversationOptions): Conversation {
  const stored: ConversationStorage = createConversationStorage(
    storage ?? null,
    storageKey ?? `docket:${client.address}`,
  );
  const restored = stored.load();
  let state: ChatState = restored?.state ?? empty;
  let handle: ResumeHandle | null = restored?.resume ?? null;
  let running: AbortController | null = null;
  const listeners = createListeners();

  function change(changed: Partial<ChatState>): void {
    state = { ...state, ...changed };
    // an answer in progress is resumed from its start, so its text need not be stored as it grows
    if (changed.status !== undefined || state.status === 'ready') stored.save({ state, resume: handle });
    listeners.call();
  }

  /** Changes the answer at the end of the conversation; adds it when the question is still last. */
  function changeAnswer(update: (answer: ChatMessage) => ChatMessage): ChatMessage[] {
    const last = state.messages.at(-1);
    const isAnswer = last?.role === 'assistant';
    const answer = isAnswer ? last : newMessage('assistant', '');
    return [...(isAnswer ? state.messages.slice(0, -1) : state.messages), update(answer)];
  }

  /** Returns false once the answer has ended. */
  function apply(event: AnswerEvent): boolean {
    switch (event.type) {
      case 'start': {
        // a resumed answer starts over
        const messages = changeAnswer(() => ({ ...newMessage('assistant', ''), id: event.messageId }));
        change({ messages, threadId: event.threadId ?? state.threadId, status: 'streaming' });
        return true;
      }
      case 'text':
        change({ messages: changeAnswer((answer) => ({ ...answer, text: answer.text + event.text })) });
        return true;
      case 'source':
        change({ messages: changeAnswer((answer) => ({ ...answer, sources: [...answer.sources, event.source] })) });
        return true;
      case 'marks':
        change({ messages: changeAnswer((answer) => ({ ...answer, marks: event.marks })) });
        return true;
      case 'follow-ups':
        change({ messages: changeAnswer((answer) => ({ ...answer, followUps: event.questions })) });
        return true;
      case 'failure':
        end(event.message);
        return false;
      case 'finish':
        end(null);
        return false;
    }
  }

  function end(error: string | null): void {
    handle = null;
    running = null;
    change({ status: error === null ? 'ready' : 'error', error });
  }

  /** Follows an answer to its end. A broken connection is resumed. */
  async function follow(request: (signal: AbortSignal) => Promise<Answer | null>): Promise<void> {
    const own = new AbortController();
    running = own;
    change({ status: 'submitted', error: null });
    const isCurrent = () => running === own && !own.signal.aborted;
    let attempt = request;
    for (const wait of resumeWaits()) {
      try {
        const answer = await attempt(own.signal);
        if (!isCurrent()) return;
        if (answer === null) return end(interrupted);
        handle = answer.resume;
        for await (const event of answer.events) {
          if (!isCurrent() || !apply(event)) return;
        }
      } catch (error) {
        if (!isCurrent()) return;
        if (error instanceof AnswerError && (handle === null || error.status < 500)) return end(error.message);
      }
      if (!isCurrent()) return;
      const kept = handle;
      if (kept === null || wait === null) return end(kept === null ? unreachable : interrupted);
      await wait(own.signal);
      if (!isCurrent()) return;
      attempt = (signal) => client.resume(kept, signal);
    }
  }

  function send(messages: ChatMessage[], { context, currentPath }: AskOptions): Promise<void> {
    stop();
    const threadId = messages.length > 1 ? state.threadId : null;
    handle = null;
    state = { ...state, messages, threadId };
    const question = { chatId: newId(), messages: messages.slice(-maxSentMessages), threadId, context, currentPath };
    return follow((signal) => client.ask(question, signal));
  }

  function stop(): void {
    if (running === null) return;
    running.abort();
    // the reader has stopped reading either way
    if (handle !== null) void client.stop(handle).catch(() => {});
    end(null);
  }

  return {
    state: () => state,
    subscribe: listeners.add,
    ask: (text, options = {}) => send([...state.messages, newMessage('user', text)], options),
    edit(messageId, text, options = {}) {
      const index = state.messages.findIndex(({ id }) => id === messageId);
      const kept = index < 0 ? state.messages : state.messages.slice(0, index);
      return send([...kept, newMessage('user', text)], options);
    },
    async resume() {
      const kept = handle;
      if (state.status === 'ready' || state.status === 'error' || running !== null) return;
      if (kept === null) return end(interrupted);
      await follow((signal) => client.resume(kept, signal));
    },
    stop,
    async rate(messageId, vote) {
      const { threadId } = state;
      if (threadId === null) return;
      await client.rate({ threadId, messageId, ...vote });
      const messages = state.messages.map((message) => (message.id === messageId ? { ...message, vote } : message));
      change({ messages });
    },
    clear() {
      stop();
      handle = null;
      state = empty;
      stored.clear();
      listeners.call();
    },
  };
}

function newMessage(role: ChatMessage['role'], text: string): ChatMessage {
  return { id: newId(), role, text, sources: [], marks: [], followUps: [], vote: null };
}
