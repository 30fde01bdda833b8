import { createRequire } from 'node:module';
import { createProgress, errorTextOf } from './sdk-client-progress.ts';
import { packageOf, type SdkClient, type SdkClientOptions, type ShownSource } from './sdk-client-interface.ts';

interface Message {
  id?: string;
  role: string;
  content: string;
  createdAt?: Date | string;
  annotations?: (ThreadNote & { source?: ShownSource })[];
  toolInvocations?: unknown[];
  parts?: { type: string; source?: ShownSource }[];
}

interface ThreadNote {
  type: string;
  threadId?: string;
}

type Update =
  | [{ message: Message; data?: ThreadNote[]; replaceLastMessage?: boolean }]
  | [Message[], ThreadNote[] | undefined];

/** The part of `@ai-sdk/ui-utils` that `useChat` uses; the later functions are missing in older releases. */
interface UiUtils {
  callChatApi(options: object): Promise<unknown>;
  generateId(): string;
  fillMessageParts?(messages: Message[]): Message[];
  extractMaxToolInvocationStep?(calls: unknown[] | undefined): number | undefined;
  shouldResubmitMessages?(options: object): boolean;
}

/** A client of AI SDK 4: the bookkeeping of its `useChat` around its own `callChatApi`. */
export async function createDataStreamClient(options: SdkClientOptions): Promise<SdkClient> {
  const { service, version, sendsExtraFields = true } = options;
  const utils = loadUiUtils(packageOf(version));
  const fill = (list: Message[]) => utils.fillMessageParts?.(list) ?? list;
  const chatId = utils.generateId();
  let messages = fill((options.messages ?? []) as Message[]);
  let data: ThreadNote[] = [];
  let headerThreadId: string | null = null;
  let finishedMessage: Message | null = null;
  let error: unknown;
  let status: 'ready' | 'busy' | 'error' = 'ready';
  let requestCount = 0;
  let abortController: AbortController | null = null;
  const lastReply = () => (messages.at(-1)?.role === 'assistant' ? messages.at(-1)! : null);
  const text = () => lastReply()?.content ?? '';
  const progress = createProgress(text);

  async function trigger(sent: Message[], key: string): Promise<void> {
    status = 'busy';
    error = undefined;
    messages = sent;
    requestCount += 1;
    abortController = new AbortController();
    const earlierData = data;
    try {
      await utils.callChatApi({
        api: `${service.baseUrl}/discovery/v1/assistant/${service.domain}/message`,
        body: {
          // releases before 4.0.38 send no id
          ...(version === '4.0.1' ? {} : { id: chatId }),
          messages: sendsExtraFields ? sent : sent.map(withoutExtraFields),
          fp: 'anonymous',
          threadId: options.threadId ?? headerThreadId,
        },
        streamProtocol: 'data',
        headers: { authorization: `Bearer ${key}` },
        abortController: () => abortController,
        restoreMessagesOnFailure() {},
        onResponse(response: Response) {
          headerThreadId = response.headers.get('x-thread-id') ?? headerThreadId;
        },
        onUpdate(...update: Update) {
          const after = afterUpdate(sent, update);
          messages = after.messages;
          if (after.data.length > 0) data = [...earlierData, ...after.data];
          progress.changed();
        },
        onFinish: (message: Message) => void (finishedMessage = message),
        generateId: utils.generateId,
        lastMessage: sent.at(-1),
        requestType: 'generate',
      });
      status = 'ready';
    } catch (thrown) {
      const isAbort = (thrown as Error).name === 'AbortError';
      if (!isAbort) error = thrown;
      status = isAbort ? 'ready' : 'error';
      if (isAbort) return;
    }
    await askAgainIfMeant(sent, key);
  }

  /** `useChat({ maxSteps: 4 })`. */
  async function askAgainIfMeant(sent: Message[], key: string): Promise<void> {
    const isMeant = utils.shouldResubmitMessages?.({
      originalMaxToolInvocationStep: utils.extractMaxToolInvocationStep?.(sent.at(-1)?.toolInvocations),
      originalMessageCount: sent.length,
      maxSteps: 4,
      messages,
    });
    if (isMeant === true) await trigger(messages, key);
  }

  return {
    ask(question, { key = service.assistantKey } = {}) {
      const id = utils.generateId();
      const message = { id, role: 'user', content: question, createdAt: new Date() };
      return progress.during(() => trigger(fill([...messages, message]), key));
    },
    async stop() {
      abortController?.abort();
    },
    untilShown: (words) => progress.until(words),
    text,
    sources() {
      const inParts = lastReply()?.parts?.filter((part) => part.type === 'source') ?? [];
      const inAnnotations = lastReply()?.annotations?.filter((note) => note.type === 'source') ?? [];
      return [...inParts, ...inAnnotations].map(({ source }) => ({ url: source!.url, title: source!.title }));
    },
    threadPlaces: () => ({
      header: headerThreadId,
      data: threadOf(data),
      annotations: threadOf(lastReply()?.annotations),
      onFinish: threadOf(finishedMessage?.annotations),
    }),
    error: () => errorTextOf(error),
    status: () => status,
    roles: () => messages.map(({ role }) => role),
    saved: () => JSON.parse(JSON.stringify(messages)) as unknown[],
    requestCount: () => requestCount,
  };
}

function loadUiUtils(name: string): UiUtils {
  const require = createRequire(import.meta.url);
  return createRequire(require.resolve(name))('@ai-sdk/ui-utils') as UiUtils;
}

/** Releases up to 4.0 pass all messages of the reply, later ones only its last. */
function afterUpdate(sent: Message[], update: Update): { messages: Message[]; data: ThreadNote[] } {
  const [first, data = []] = update;
  if (Array.isArray(first)) return { messages: [...sent, ...first], data };
  const kept = first.replaceLastMessage === true ? sent.slice(0, -1) : sent;
  return { messages: [...kept, first.message], data: first.data ?? [] };
}

/** Returns the fields of a message that `sendExtraMessageFields: false` keeps. */
function withoutExtraFields({ role, content, annotations, toolInvocations, parts }: Message): Message {
  return { role, content, annotations, toolInvocations, parts };
}

function threadOf(entries: ThreadNote[] | undefined): string | null {
  return entries?.findLast((entry) => entry?.type === 'finish')?.threadId ?? null;
}
