import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button, Input, SearchField } from 'react-aria-components';
import { linkTargetOf } from '../assistant/link-target.ts';
import { plainMessage } from '../assistant/plain-message.ts';
import {
  conversationViews,
  narrowingOf,
  views,
  type ConversationSearch,
  type ConversationView,
  type Narrowing,
} from '../assistant/views.ts';
import { NextPage } from '../components/next-page.tsx';
import { Loaded } from '../components/loaded.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { NoSites, SiteChoice } from '../components/site-choice.tsx';
import { Ago } from '../components/time.tsx';
import { fullTime, plural } from '../format.ts';
import { byCursor, pageEvery } from '../http/all-pages.ts';
import { answerOf, api } from '../http/client.ts';
import type { Conversation, ThreadMessage } from '../http/types.ts';
import { headline, plain } from '../plain.ts';
import { AnswerView } from '../widget/answer/answer-view.tsx';
import type { LinkTarget } from '../widget/answer/page-link.tsx';
import { QuestionView } from '../widget/chat.tsx';
import { defaultLabels } from '../widget/labels.ts';
import { useTitle } from '../use-title.ts';
import '../widget/chat.css';
import '../styles/job.css';
import '../styles/settings.css';
import '../styles/assistant.css';

/** Shows readers' questions and the answers. */
export function ConversationsPage() {
  const { sites } = useSession();
  const { site = sites[0]?.domain ?? '', view = 'all', q = '', ...more } = useSearch({ from: '/conversations' });
  const narrowing = narrowingOf(more);
  const navigate = useNavigate();
  useTitle('Conversations');
  if (site === '') return <NoSites title="Conversations" />;
  const show = (change: ConversationSearch) =>
    void navigate({ to: '/conversations', search: { site, view, q, ...narrowing, ...change }, replace: true });
  return (
    <>
      <div className="page-head">
        <h1>Conversations</h1>
        <SiteChoice
          domain={site}
          onChange={(domain) => void navigate({ to: '/conversations', search: { site: domain, view, q } })}
        />
      </div>
      <div className="filters">
        <div className="segments" role="group" aria-label="Filter conversations">
          {conversationViews.map((name) => (
            <Button key={name} className="segment" aria-pressed={view === name} onPress={() => show({ view: name })}>
              {name}
            </Button>
          ))}
        </div>
        <SearchField
          key={q}
          className="search"
          aria-label="Search conversations"
          defaultValue={q}
          onSubmit={(words) => show({ q: words.trim() })}
          onClear={() => show({ q: '' })}
        >
          <Input className="input" placeholder="Search questions and answers" />
        </SearchField>
      </div>
      <NarrowedTo
        narrowing={narrowing}
        onClear={() => void navigate({ to: '/conversations', search: { site, view, q } })}
      />
      <ConversationList key={`${site} ${view}`} domain={site} view={view} q={q} narrowing={narrowing} />
    </>
  );
}

const nounOf = { topic: 'section', version: 'version', language: 'language', page: 'citing' } as const;

/** Says which part of the conversations the analytics led to. */
function NarrowedTo({ narrowing, onClear }: { narrowing: Narrowing; onClear(): void }) {
  const { since, until } = narrowing;
  const filters = (['topic', 'version', 'language', 'page'] as const).flatMap((name) => {
    const value = narrowing[name];
    return value === undefined ? [] : [`${nounOf[name]} ${value === '' ? 'none' : plain(value)}`];
  });
  const times = [
    since === undefined ? [] : `from ${fullTime(since)}`,
    until === undefined ? [] : `until ${fullTime(until)}`,
  ];
  const parts = [...filters, ...times.flat()];
  if (parts.length === 0) return null;
  return (
    <p className="hint">
      Only {parts.join(', ')}.{' '}
      <Button className="button button-quiet" onPress={onClear}>
        Show all
      </Button>
    </p>
  );
}

interface ConversationListProps {
  domain: string;
  view: ConversationView;
  q: string;
  narrowing: Narrowing;
}

function ConversationList({ domain, view, q, narrowing }: ConversationListProps) {
  const list = useInfiniteQuery({
    queryKey: ['conversations', domain, view, q, narrowing],
    ...byCursor,
    refetchInterval: pageEvery(15_000),
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/v1/sites/{domain}/conversations', {
          params: {
            path: { domain },
            query: { ...views[view], ...narrowing, q: q || undefined, limit: 50, cursor: pageParam || undefined },
          },
        }),
      ),
  });
  return (
    <Loaded query={list} problem="Conversations could not be loaded">
      {({ pages }) => {
        const conversations = pages.flatMap((page) => page.conversations);
        if (conversations.length === 0)
          return (
            <NoConversation
              domain={domain}
              isNarrowed={view !== 'all' || q !== '' || Object.keys(narrowing).length > 0}
            />
          );
        return (
          <>
            <div className="conversations">
              {conversations.map((conversation) => (
                <ConversationItem key={conversation.threadId} domain={domain} conversation={conversation} />
              ))}
            </div>
            <NextPage list={list} label="Earlier" />
          </>
        );
      }}
    </Loaded>
  );
}

function NoConversation({ domain, isNarrowed }: { domain: string; isNarrowed: boolean }) {
  if (isNarrowed)
    return (
      <EmptyNote title="No conversations match these filters">
        <Link to="/conversations" search={{ site: domain }} className="button">
          Show all conversations
        </Link>
      </EmptyNote>
    );
  return (
    <EmptyNote title="No conversations yet">
      <p>Readers' questions and the assistant's answers appear here.</p>
      <Link to="/playground" className="button">
        Open the playground
      </Link>
    </EmptyNote>
  );
}

function ConversationItem({ domain, conversation }: { domain: string; conversation: Conversation }) {
  const [isOpen, setOpen] = useState(false);
  const { question, questions, unanswered, up, down, updatedAt, fp, threadId } = conversation;
  return (
    <details className="conversation" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className="conversation-question reader-text">{headline(plain(question ?? 'Conversation'), 300)}</span>
        <span className="conversation-marks">
          {unanswered > 0 && (
            <span className="badge badge-warn">
              {unanswered === questions ? 'unanswered' : `${unanswered} unanswered`}
            </span>
          )}
          {up > 0 && <span className="badge badge-good">helpful</span>}
          {down > 0 && <span className="badge badge-bad">not helpful</span>}
        </span>
        <span className="hint conversation-facts">
          {plural(questions, 'question')}, <Ago date={updatedAt} />
          {fp === 'playground' && ', playground'}
        </span>
      </summary>
      {isOpen && <ThreadView domain={domain} threadId={threadId} />}
    </details>
  );
}

function ThreadView({ domain, threadId }: { domain: string; threadId: string }) {
  const thread = useInfiniteQuery({
    queryKey: ['thread', threadId],
    ...byCursor,
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/discovery/v1/assistant/{domain}/thread/{threadId}', {
          params: { path: { domain, threadId }, query: { limit: 50, cursor: pageParam || undefined } },
        }),
      ),
  });
  const target = useMemo(() => linkTargetOf(domain), [domain]);
  return (
    <Loaded query={thread} problem="The conversation could not be loaded">
      {({ pages }) => (
        <div className="docket-chat">
          <div className="docket-messages thread">
            {pages
              .flatMap(({ messages }) => messages)
              .map((message) => (
                <StoredMessage key={message.id} message={message} target={target} />
              ))}
          </div>
          <NextPage list={thread} label="Later messages" />
        </div>
      )}
    </Loaded>
  );
}

function StoredMessage({ message, target }: { message: ThreadMessage; target: LinkTarget }) {
  const { id, role, content, currentPath, searchQuery, sources, feedback } = message;
  const isQuestion = role === 'user';
  const shown = plainMessage({
    id,
    role: isQuestion ? 'user' : 'assistant',
    text: content,
    sources,
    marks: [],
    followUps: [],
    vote: null,
  });
  if (isQuestion)
    return (
      <>
        <QuestionView message={shown} labels={defaultLabels} onEdit={null} />
        {currentPath !== null && <p className="hint">Asked on {plain(currentPath)}</p>}
        {searchQuery !== null && <p className="hint">Searched for "{plain(searchQuery)}"</p>}
      </>
    );
  return (
    <>
      <AnswerView
        message={shown}
        question=""
        isLast={false}
        isDone
        driver={null}
        labels={defaultLabels}
        target={target}
      />
      {feedback != null && (
        <p className={`note reader-says ${feedback.vote === 'up' ? 'says-good' : 'says-bad'}`}>
          Rated {feedback.vote === 'up' ? 'helpful' : 'not helpful'} by the reader
          {feedback.reasons.length > 0 && `: ${feedback.reasons.map(plain).join(', ')}`}
          {feedback.comment !== null && `. "${plain(feedback.comment)}"`}
        </p>
      )}
    </>
  );
}
