import { createProgress, errorTextOf } from './sdk-client-progress.ts';
import { packageOf, type SdkClient, type SdkClientOptions, type ShownSource } from './sdk-client-interface.ts';

interface UiMessage {
  id: string;
  role: string;
  parts: ({ type: string; text?: string } & Partial<ShownSource>)[];
  metadata?: { threadId?: string };
}

interface ChatState {
  status: string;
  error: unknown;
  messages: UiMessage[];
  pushMessage(message: UiMessage): void;
  popMessage(): void;
  replaceMessage(index: number, message: UiMessage): void;
  snapshot<T>(thing: T): T;
}

interface Chat {
  sendMessage(message: { text: string }, options: object): Promise<void>;
  stop(): Promise<void>;
}

/** Types that all releases since 5.0 share. */
interface Sdk {
  AbstractChat: new (options: object) => Chat;
  DefaultChatTransport: new (options: object) => object;
  lastAssistantMessageIsCompleteWithToolCalls?: unknown;
}

/** A client of AI SDK 5 to 7: its own chat, with the state that `useChat` gives it. */
export async function createUiMessageClient(options: SdkClientOptions): Promise<SdkClient> {
  const { service } = options;
  const sdk = (await import(packageOf(options.version))) as Sdk;
  let headerThreadId: string | null = null;
  let finishedMessage: UiMessage | null = null;
  let requestCount = 0;
  const state = createChatState((options.messages ?? []) as UiMessage[], () => progress.changed());
  const lastReply = () => (state.messages.at(-1)?.role === 'assistant' ? state.messages.at(-1)! : null);
  const text = () => (lastReply()?.parts ?? []).map((part) => (part.type === 'text' ? (part.text ?? '') : '')).join('');
  const progress = createProgress(text);

  const transport = new sdk.DefaultChatTransport({
    api: `${service.baseUrl}/discovery/v2/assistant/${service.domain}/message`,
    body: () => ({ fp: 'anonymous', threadId: options.threadId ?? headerThreadId }),
    async fetch(input: string, init: RequestInit) {
      requestCount += 1;
      const response = await fetch(input, init);
      headerThreadId = response.headers.get('x-thread-id') ?? headerThreadId;
      return response;
    },
  });
  const chat = new sdk.AbstractChat({
    state,
    transport,
    onFinish: ({ message }: { message: UiMessage }) => void (finishedMessage = message),
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithToolCalls,
  });

  return {
    ask(question, { key = service.assistantKey } = {}) {
      const headers = { authorization: `Bearer ${key}` };
      return progress.during(() => chat.sendMessage({ text: question }, { headers }));
    },
    stop: () => chat.stop(),
    untilShown: (words) => progress.until(words),
    text,
    sources: () =>
      (lastReply()?.parts ?? [])
        .filter((part) => part.type === 'source-url')
        .map(({ url = '', title = '' }) => ({ url, title })),
    threadPlaces: () => ({
      header: headerThreadId,
      metadata: lastReply()?.metadata?.threadId ?? null,
      onFinish: finishedMessage?.metadata?.threadId ?? null,
    }),
    error: () => errorTextOf(state.error),
    status: () => (state.status === 'ready' || state.status === 'error' ? state.status : 'busy'),
    roles: () => state.messages.map(({ role }) => role),
    saved: () => JSON.parse(JSON.stringify(state.messages)) as unknown[],
    requestCount: () => requestCount,
  };
}

function createChatState(messages: UiMessage[], changed: () => void): ChatState {
  const state: ChatState = {
    status: 'ready',
    error: undefined,
    messages,
    pushMessage(message) {
      state.messages = [...state.messages, message];
      changed();
    },
    popMessage() {
      state.messages = state.messages.slice(0, -1);
      changed();
    },
    replaceMessage(index, message) {
      state.messages = state.messages.with(index, structuredClone(message));
      changed();
    },
    snapshot: (thing) => structuredClone(thing),
  };
  return state;
}
