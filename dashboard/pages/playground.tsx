import { useChat } from '@ai-sdk/react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DefaultChatTransport } from 'ai';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ChatMessage, threadOf } from '../assistant/chat-message.tsx';
import { PassageList } from '../assistant/passage-list.tsx';
import { findPassages } from '../assistant/passages.ts';
import { PlaygroundStart } from '../assistant/playground-start.tsx';
import { QuestionForm, type QuestionDraft } from '../assistant/question-form.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { SiteChoice } from '../components/site-choice.tsx';
import { messageOf } from '../http/client.ts';
import '../styles/job.css';
import '../styles/assistant.css';

/** Asks a site's assistant as a reader would, and shows the search results. */
export function PlaygroundPage() {
  const { sites } = useSession();
  const { site: domain = sites[0]?.domain ?? '', question } = useSearch({ from: '/playground' });
  const navigate = useNavigate();
  useEffect(() => {
    document.title = 'Playground · Docket';
  }, []);
  if (domain === '') return <EmptyNote title="No sites yet">Create one in the settings.</EmptyNote>;
  return (
    <>
      <div className="page-head">
        <h1>Playground</h1>
        <SiteChoice domain={domain} onChange={(site) => void navigate({ to: '/playground', search: { site } })} />
      </div>
      <Chat key={domain} domain={domain} first={question} />
    </>
  );
}

/** `first` is a question to start with, as a reader. */
function Chat({ domain, first }: { domain: string; first: string | undefined }) {
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: `/discovery/v2/assistant/${encodeURIComponent(domain)}/message`,
        body: { retrievalPageSize: 5 },
      }),
    [domain],
  );
  const { messages, sendMessage, status, error, stop, setMessages, clearError } = useChat({ transport });
  const [draft, setDraft] = useState<QuestionDraft>({
    question: first ?? '',
    currentPath: '',
    context: { type: 'textSelection', value: '' },
    isReader: first !== undefined,
  });
  const passages = useMutation({ mutationFn: (query: string) => findPassages(domain, query) });
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (messages.length > 0) end.current?.scrollIntoView({ block: 'nearest' });
  }, [messages.length, status]);
  const isBusy = status === 'submitted' || status === 'streaming';
  const ask = (question: string) => {
    const threadId = threadOf(messages.findLast(({ role }) => role === 'assistant'));
    void sendMessage({ text: question }, { body: bodyOf(draft, threadId) });
    passages.mutate(question);
  };
  return (
    <div className="playground">
      <div className="chat">
        <div className="messages" role="log" aria-label="Conversation" aria-busy={isBusy}>
          {messages.length === 0 && <PlaygroundStart domain={domain} onAsk={ask} />}
          {messages.map((message, index) => (
            <ChatMessage
              key={message.id}
              message={message}
              domain={domain}
              isDone={!isBusy || index < messages.length - 1}
            />
          ))}
          {status === 'submitted' && <p className="speaking">Searching…</p>}
          {error !== undefined && (
            <p className="note note-error" role="alert">
              {sentenceOf(error)}
            </p>
          )}
          <div ref={end} className="messages-end" />
        </div>
        <QuestionForm
          draft={draft}
          onChange={(change) => setDraft({ ...draft, ...change })}
          isBusy={isBusy}
          hasMessages={messages.length > 0}
          onAsk={ask}
          onStop={() => void stop()}
          onNew={() => {
            setMessages([]);
            clearError();
            passages.reset();
          }}
        />
      </div>
      <PassageList domain={domain} search={passages} />
    </div>
  );
}

function bodyOf({ currentPath, context, isReader }: QuestionDraft, threadId: string | null) {
  return {
    fp: isReader ? 'anonymous' : 'playground',
    ...(threadId === null ? {} : { threadId }),
    ...(currentPath.trim() === '' ? {} : { currentPath: currentPath.trim() }),
    ...(context.value.trim() === '' ? {} : { context: [{ type: context.type, value: context.value.trim() }] }),
  };
}

/** Returns the API's message. The transport throws the body of an error response as the error's message. */
function sentenceOf(error: Error): string {
  try {
    const body: unknown = JSON.parse(error.message);
    if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string')
      return body.error;
  } catch {
    // not JSON
  }
  return messageOf(error);
}
