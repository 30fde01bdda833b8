import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { conversationViews, views, type ConversationView } from '../assistant/views.ts';
import { Markdown } from '../components/markdown.tsx';
import { EmptyNote, ErrorNote, Loading } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { SiteChoice } from '../components/site-choice.tsx';
import { Ago } from '../components/time.tsx';
import { plural } from '../format.ts';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { Conversation } from '../http/types.ts';
import { plain } from '../plain.ts';
import '../styles/job.css';
import '../styles/settings.css';
import '../styles/assistant.css';

/** What readers asked, and what they were told. */
export function ConversationsPage() {
  const { sites } = useSession();
  const { site = sites[0]?.domain ?? '', view = 'all' } = useSearch({ from: '/conversations' });
  const navigate = useNavigate();
  useEffect(() => {
    document.title = 'Conversations · Docket';
  }, []);
  if (site === '') return <EmptyNote title="There is no site yet">Make one in the settings.</EmptyNote>;
  return (
    <>
      <div className="page-head">
        <h1>Conversations</h1>
        <SiteChoice
          domain={site}
          onChange={(domain) => void navigate({ to: '/conversations', search: { site: domain, view } })}
        />
      </div>
      <div className="filters">
        <div className="segments" role="group" aria-label="Which conversations">
          {conversationViews.map((name) => (
            <Button
              key={name}
              className="segment"
              aria-pressed={view === name}
              onPress={() => void navigate({ to: '/conversations', search: { site, view: name }, replace: true })}
            >
              {name}
            </Button>
          ))}
        </div>
      </div>
      <ConversationList key={`${site} ${view}`} domain={site} view={view} />
    </>
  );
}

function ConversationList({ domain, view }: { domain: string; view: ConversationView }) {
  const list = useInfiniteQuery({
    queryKey: ['conversations', domain, view],
    initialPageParam: '',
    refetchInterval: 15_000,
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/v1/sites/{domain}/conversations', {
          params: {
            path: { domain },
            query: { ...views[view], limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) },
          },
        }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  if (list.isPending) return <Loading />;
  if (list.isError) return <ErrorNote title="The conversations could not be read" message={messageOf(list.error)} />;
  const conversations = list.data.pages.flatMap((page) => page.conversations);
  if (conversations.length === 0) return <EmptyNote title="No conversation here yet" />;
  return (
    <>
      {conversations.map((conversation) => (
        <ConversationItem key={conversation.threadId} domain={domain} conversation={conversation} />
      ))}
      {list.hasNextPage && (
        <Button className="button" isDisabled={list.isFetching} onPress={() => void list.fetchNextPage()}>
          Earlier
        </Button>
      )}
    </>
  );
}

function ConversationItem({ domain, conversation }: { domain: string; conversation: Conversation }) {
  const [isOpen, setOpen] = useState(false);
  const { question, questions, unanswered, up, down, updatedAt, fp } = conversation;
  return (
    <details className="panel" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong className="asked">{plain(question ?? 'A conversation').slice(0, 300)}</strong>{' '}
        {unanswered > 0 && (
          <span className="badge badge-warn">
            {unanswered === questions ? 'unanswered' : `${unanswered} unanswered`}
          </span>
        )}{' '}
        {up > 0 && <span className="badge badge-good">helped</span>}{' '}
        {down > 0 && <span className="badge badge-bad">did not help</span>}{' '}
        <span className="hint">
          {plural(questions, 'question')}, <Ago date={updatedAt} />
          {fp === 'playground' && ', in the playground'}
        </span>
      </summary>
      {isOpen && <ThreadView domain={domain} threadId={conversation.threadId} />}
    </details>
  );
}

function ThreadView({ domain, threadId }: { domain: string; threadId: string }) {
  const thread = useQuery({
    queryKey: ['thread', threadId],
    queryFn: () =>
      answerOf(
        api.GET('/discovery/v1/assistant/{domain}/thread/{threadId}', { params: { path: { domain, threadId } } }),
      ),
  });
  if (thread.isPending) return <Loading />;
  if (thread.isError) return <ErrorNote title="The conversation could not be read" message={messageOf(thread.error)} />;
  return (
    <div className="thread">
      {thread.data.messages.map(({ id, role, content, sources, feedback }) =>
        role === 'user' ? (
          <div key={id} className="said">
            <p className="words">{plain(content)}</p>
          </div>
        ) : (
          <article key={id} className="answer">
            <Markdown text={content} />
            {sources.length > 0 && (
              <ul className="sources" aria-label="Sources">
                {sources.map(({ url, title }) => (
                  <li key={url} className="source">
                    <span className="source-title">{plain(title)}</span>
                    <code className="quiet">{plain(url)}</code>
                  </li>
                ))}
              </ul>
            )}
            {feedback != null && (
              <p className="hint">
                The reader says that it {feedback.vote === 'up' ? 'helped' : 'did not help'}
                {feedback.reasons.length > 0 && `: ${feedback.reasons.join(', ')}`}
                {feedback.comment !== null && `. "${plain(feedback.comment)}"`}
              </p>
            )}
          </article>
        ),
      )}
    </div>
  );
}
