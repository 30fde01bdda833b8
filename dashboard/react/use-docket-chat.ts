import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { marksOf } from '../widget/answer/answer-events.ts';
import type { ChatDriver } from '../widget/chat-driver.ts';
import type { AnswerAdditions, ChatMessage } from '../widget/chat-state.ts';
import {
  accepted,
  anonymous,
  AnswerError,
  createClientWith,
  type ClientOptions,
  type QuestionContext,
} from '../widget/client.ts';
import { interrupted, resumeWaits, unreachable } from '../widget/resume-waits.ts';
import { createProvenFetch } from '../widget/proven-fetch.ts';
import { stringIn, stringsOf } from '../widget/unknown-fields.ts';
import { createChatStorage } from './chat-storage.ts';

export interface DocketChatOptions extends ClientOptions {
  /** Distinguishes the chats of a page. The conversation is kept in the tab under this name. */
  id?: string;
  /** Path of the page that the reader is on. By default that of the address. */
  currentPath?: string;
}

/** A conversation whose answer is being resumed, with the text that had arrived. */
interface Broken {
  messages: UIMessage[];
  waits: ReturnType<typeof resumeWaits>;
}

const noAdditions: AnswerAdditions = { marks: [], followUps: [], vote: null };

/** The state of a chat and what a reader can do. `messages` are plain text and sources; `chat` is AI SDK's own. */
export interface DocketChat extends ChatDriver {
  chat: ReturnType<typeof useChat>;
}

/** Holds a conversation with a documentation site, on `useChat`. A reload continues an answer in progress. */
export function useDocketChat(options: DocketChatOptions): DocketChat {
  const { baseUrl, site, apiKey, user = anonymous, id = 'docket', currentPath } = options;
  const readerToken = useRef(options.readerToken);
  readerToken.current = options.readerToken;
  const captcha = useRef(options.captcha);
  const hasCaptcha = options.captcha !== undefined;
  captcha.current = options.captcha;
  const solveCaptcha = useMemo(
    () => (hasCaptcha ? async () => (await captcha.current?.()) ?? '' : undefined),
    [hasCaptcha],
  );
  const provenFetch = useMemo(
    () => createProvenFetch({ baseUrl, apiKey, ...(solveCaptcha === undefined ? {} : { captcha: solveCaptcha }) }),
    [baseUrl, apiKey, solveCaptcha],
  );
  const client = useMemo(
    () => createClientWith({ baseUrl, site, user, readerToken: () => readerToken.current?.() ?? null }, provenFetch),
    [baseUrl, site, user, provenFetch],
  );
  const starterQuestions = useCallback(async () => (await client.suggest('')).questions, [client]);
  const storage = useMemo(() => createChatStorage(`docket:${baseUrl}:${site}:${id}`), [baseUrl, site, id]);
  // sent before the end of an answer, and no part of its message
  const ending = useRef(noAdditions);
  const broken = useRef<Broken | null>(null);
  const [isLost, setLost] = useState(false);
  // an answer that was still in progress at an unmount is resumed by the next mount
  const isMounted = useRef(true);
  const transport = useMemo(() => {
    const root = baseUrl.replace(/(?<!\/)\/+$/, '');
    return new DefaultChatTransport<UIMessage>({
      api: `${root}/discovery/v2/assistant/${encodeURIComponent(site)}/message`,
      body: { fp: user, resumable: true, citations: true, followUps: true },
      headers: async () => {
        const token = await readerToken.current?.();
        return {
          'X-Resume-Token': storage.token() ?? '',
          ...(token ? { 'X-Reader-Token': token } : {}),
        };
      },
      fetch: async (input, init) => {
        ending.current = noAdditions;
        const response = await accepted(await provenFetch(input, init));
        const token = response.headers.get('X-Resume-Token');
        if (token !== null) storage.keepToken(token);
        if (response.status === 204) {
          storage.forgetToken();
          setLost(true);
        }
        return response;
      },
    });
  }, [baseUrl, site, user, storage, provenFetch]);
  // only what a reload has cut off is resumed
  const [restored] = useState(() => ({ ...storage.load(), resume: storage.token() !== null }));
  const [additions, setAdditions] = useState(restored.additions);
  const chat = useChat({
    id,
    transport,
    messages: restored.messages,
    resume: restored.resume,
    onData({ type, data }) {
      if (type === 'data-citations') ending.current = { ...ending.current, marks: marksOf(data) };
      if (type === 'data-follow-ups') ending.current = { ...ending.current, followUps: stringsOf(data) };
    },
    // a short answer can end before React renders that it has begun, so no effect sees its states
    onFinish({ message, isError, isAbort }) {
      if (isError || isAbort) return;
      storage.forgetToken();
      const { current } = ending;
      setAdditions((known) => ({ ...known, [message.id]: current }));
    },
  });
  const { messages, status, error, sendMessage, stop, setMessages, clearError, resumeStream } = chat;

  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      // StrictMode mounts again at once
      queueMicrotask(() => {
        if (!isMounted.current) void stop();
      });
    };
  }, [stop]);

  useEffect(() => {
    // an answer in progress is resumed from its start
    const kept = status === 'ready' ? messages : upToQuestion(messages);
    storage.save({ messages: kept, additions });
  }, [storage, messages, status, additions]);

  const isResuming = status === 'error' && storage.token() !== null && isConnection(error);

  useEffect(() => {
    if (status === 'ready' && !isLost) broken.current = null;
    if (!isResuming) return;
    const kept = (broken.current ??= { messages, waits: resumeWaits() });
    const wait = kept.waits.next().value ?? null;
    if (wait === null) {
      storage.forgetToken();
      return setLost(true);
    }
    const left = new AbortController();
    void wait(left.signal).then(() => {
      if (left.signal.aborted || broken.current !== kept) return;
      // an answer is resumed from its start
      setMessages(upToQuestion(kept.messages));
      void resumeStream();
    });
    return () => left.abort();
    // each attempt that fails has its own error
  }, [status, error]);

  useEffect(() => {
    if (isLost) restore();
  }, [isLost]);

  /** Ends resuming, and shows the text that had arrived. */
  function restore(): void {
    if (broken.current !== null) setMessages(broken.current.messages);
    broken.current = null;
  }

  function stopAnswer(): void {
    const token = storage.token();
    // the reader has stopped reading either way
    if (token !== null) void client.stop({ chatId: id, token }).catch(() => {});
    storage.forgetToken();
    restore();
    if (isResuming) clearError();
    void stop();
  }

  function send(message: { text: string; messageId?: string }, context: QuestionContext[]): void {
    restore();
    storage.forgetToken();
    setLost(false);
    void sendMessage(message, { body: body(context) });
  }

  const isCut = broken.current !== null && messages.at(-1)?.role === 'user';
  const visible = isCut ? (broken.current?.messages ?? messages) : messages;
  const threadId = stringIn(visible.findLast(({ role }) => role === 'assistant')?.metadata, 'threadId');
  const body = (context: QuestionContext[]) => ({
    currentPath: [...(currentPath ?? location.pathname)].slice(0, 200).join(''),
    ...(threadId === null ? {} : { threadId }),
    ...(context.length === 0 ? {} : { context }),
  });
  const shown = useMemo(
    () => visible.map((message) => ({ ...shownMessage(message), ...(additions[message.id] ?? noAdditions) })),
    [visible, additions],
  );
  return {
    chat,
    messages: shown,
    status: isLost ? 'error' : isResuming ? 'streaming' : status,
    error: isLost
      ? interrupted
      : isResuming || error === undefined
        ? null
        : error instanceof TypeError
          ? unreachable
          : error.message,
    threadId,
    ask: (text, context) => send({ text }, context),
    edit: (messageId, text, context) => send({ text, messageId }, context),
    stop: stopAnswer,
    async rate(messageId, vote) {
      if (threadId === null) return;
      await client.rate({ threadId, messageId, ...vote });
      setAdditions((known) => ({ ...known, [messageId]: { ...(known[messageId] ?? noAdditions), vote } }));
    },
    clear() {
      stopAnswer();
      setLost(false);
      setMessages([]);
      setAdditions({});
      clearError();
      storage.clear();
    },
    search: client.search,
    starterQuestions,
  };
}

function shownMessage({ id, role, parts }: UIMessage): Omit<ChatMessage, keyof AnswerAdditions> {
  return {
    id,
    role: role === 'user' ? 'user' : 'assistant',
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    sources: parts.flatMap((part) =>
      part.type === 'source-url' ? [{ url: part.url, title: part.title ?? part.url }] : [],
    ),
  };
}

/** Reports whether the connection broke, or was refused because the server is restarting. */
function isConnection(error: Error | undefined): boolean {
  return error instanceof TypeError || (error instanceof AnswerError && error.status >= 500);
}

function upToQuestion(messages: UIMessage[]): UIMessage[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1);
}
