import { useChat } from '@ai-sdk/react';
import { useMutation } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { useEffect, useMemo, useState } from 'react';
import { Button, Form, Input, Label, TextArea, TextField } from 'react-aria-components';
import { messageOf } from '../http/client.ts';
import { Feedback } from '../assistant/feedback.tsx';
import { findPassages, type Passage } from '../assistant/passages.ts';
import { Markdown } from '../components/markdown.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { beginning, plain } from '../plain.ts';
import '../styles/job.css';
import '../styles/assistant.css';

/** Asks the assistant of a site as a reader would, and shows what it found. */
export function PlaygroundPage() {
  const { sites } = useSession();
  const { site } = useSearch({ from: '/playground' });
  const [domain, setDomain] = useState(site ?? sites[0]?.domain ?? '');
  useEffect(() => {
    document.title = 'Playground · Docket';
  }, []);
  if (domain === '') return <EmptyNote title="There is no site yet">Make one in the settings.</EmptyNote>;
  return (
    <>
      <div className="page-head">
        <h1>Playground</h1>
        <label className="inline-field">
          <span>Site</span>
          <select value={domain} onChange={({ target }) => setDomain(target.value)}>
            {sites.map((one) => (
              <option key={one.domain}>{one.domain}</option>
            ))}
          </select>
        </label>
      </div>
      <Chat key={domain} domain={domain} />
    </>
  );
}

interface Extra {
  currentPath: string;
  selection: string;
}

function threadOf(message: UIMessage | undefined): string | null {
  const { metadata } = message ?? {};
  const isThere = typeof metadata === 'object' && metadata !== null && 'threadId' in metadata;
  return isThere && typeof metadata.threadId === 'string' ? metadata.threadId : null;
}

function Chat({ domain }: { domain: string }) {
  const transport = useMemo(
    () =>
      new DefaultChatTransport({
        api: `/discovery/v2/assistant/${encodeURIComponent(domain)}/message`,
        body: { fp: 'playground', retrievalPageSize: 5 },
      }),
    [domain],
  );
  const { messages, sendMessage, status, error, stop, setMessages } = useChat({ transport });
  const [text, setText] = useState('');
  const [extra, setExtra] = useState<Extra>({ currentPath: '', selection: '' });
  const passages = useMutation({ mutationFn: (query: string) => findPassages(domain, query) });
  const isBusy = status === 'submitted' || status === 'streaming';
  const ask = () => {
    const question = text.trim();
    if (question === '' || isBusy) return;
    const threadId = threadOf(messages.findLast(({ role }) => role === 'assistant'));
    const body = {
      ...(threadId === null ? {} : { threadId }),
      ...(extra.currentPath.trim() === '' ? {} : { currentPath: extra.currentPath.trim() }),
      ...(extra.selection.trim() === '' ? {} : { context: [{ type: 'textSelection', value: extra.selection.trim() }] }),
    };
    void sendMessage({ text: question }, { body });
    passages.mutate(question);
    setText('');
  };
  return (
    <div className="playground">
      <div className="chat">
        <div className="messages" role="log" aria-label="Conversation" aria-busy={isBusy}>
          {messages.length === 0 && <p className="quiet">Ask what a reader of {domain} would ask.</p>}
          {messages.map((message, index) => (
            <Message
              key={message.id}
              message={message}
              domain={domain}
              isDone={!isBusy || index < messages.length - 1}
            />
          ))}
          {status === 'submitted' && <p className="speaking">Searching…</p>}
          {error !== undefined && (
            <p className="field-error" role="alert">
              {sentenceOf(error)}
            </p>
          )}
        </div>
        <Form
          className="form"
          onSubmit={(event) => {
            event.preventDefault();
            ask();
          }}
        >
          <TextField className="field" value={text} onChange={setText}>
            <Label className="label">Question</Label>
            <TextArea
              className="input"
              rows={2}
              onKeyDown={(event) => {
                if (event.key !== 'Enter' || event.shiftKey) return;
                event.preventDefault();
                ask();
              }}
            />
          </TextField>
          <details className="grammar">
            <summary>Where the reader is</summary>
            <TextField
              className="field"
              value={extra.currentPath}
              onChange={(currentPath) => setExtra({ ...extra, currentPath })}
            >
              <Label className="label">Current page</Label>
              <Input className="input code" placeholder="/guides/install" maxLength={200} />
            </TextField>
            <TextField
              className="field"
              value={extra.selection}
              onChange={(selection) => setExtra({ ...extra, selection })}
            >
              <Label className="label">Selected text</Label>
              <TextArea className="input" rows={2} />
            </TextField>
          </details>
          <div className="actions">
            <Button type="submit" className="button button-primary" isDisabled={isBusy}>
              Ask
            </Button>
            {isBusy && (
              <Button className="button" onPress={() => void stop()}>
                Stop
              </Button>
            )}
            {messages.length > 0 && !isBusy && (
              <Button className="button" onPress={() => setMessages([])}>
                New conversation
              </Button>
            )}
          </div>
        </Form>
      </div>
      <aside className="passages" aria-label="Retrieved passages">
        <h2>Retrieved passages</h2>
        {passages.isIdle && <p className="quiet">What the search finds for a question stands here.</p>}
        {passages.isError && <p className="field-error">{messageOf(passages.error)}</p>}
        {passages.data?.length === 0 && <p className="quiet">Nothing was found.</p>}
        {passages.data?.map((passage) => (
          <PassageCard
            key={`${passage.path}#${passage.anchor ?? ''}${passage.content.slice(0, 40)}`}
            passage={passage}
          />
        ))}
      </aside>
    </div>
  );
}

/** The transport throws the body of an error as the message. */
function sentenceOf(error: Error): string {
  try {
    const body: unknown = JSON.parse(error.message);
    if (typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string')
      return body.error;
  } catch {
    // it was no JSON
  }
  return messageOf(error);
}

function Message({ message, domain, isDone }: { message: UIMessage; domain: string; isDone: boolean }) {
  const threadId = threadOf(message);
  const text = message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const sources = message.parts.filter((part) => part.type === 'source-url');
  if (message.role === 'user') {
    return (
      <div className="said">
        <p className="words">{plain(text)}</p>
      </div>
    );
  }
  return (
    <article className="answer">
      <Markdown text={text} />
      {sources.length > 0 && (
        <ul className="sources" aria-label="Sources">
          {sources.map(({ sourceId, url, title }) => (
            <li key={sourceId} className="source">
              <span className="source-title">{plain(title ?? url)}</span>
              <code className="quiet">{plain(url)}</code>
            </li>
          ))}
        </ul>
      )}
      {isDone && threadId !== null && text !== '' && (
        <Feedback domain={domain} threadId={threadId} messageId={message.id} />
      )}
    </article>
  );
}

function PassageCard({ passage }: { passage: Passage }) {
  const { shown, left } = beginning(plain(passage.content), 600);
  return (
    <details className="passage">
      <summary>
        <span className="passage-title">{plain(passage.title)}</span>
        {passage.score !== null && <span className="badge">{passage.score.toFixed(2)}</span>}
        <code className="quiet passage-path">{plain(passage.path)}</code>
      </summary>
      <p className="words">
        {shown}
        {left > 0 && '…'}
      </p>
    </details>
  );
}
