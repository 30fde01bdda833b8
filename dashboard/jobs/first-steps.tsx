import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { views } from '../assistant/views.ts';
import { useSession } from '../components/session.tsx';
import { answerOf, api } from '../http/client.ts';
import type { ListedJob } from '../http/types.ts';

const dismissedKey = 'docket-first-steps-dismissed';
/** An organization with more jobs needs no introduction. */
const fewJobs = 20;
const refetchMs = 5_000;
const firstPrompt = 'Create docs/hello.md with "# Hello\n\nThis page was written by an agent."';
/** A question that the sample site answers; other sites get an empty field. */
const sample = { site: 'sample', question: 'How do I run a scene?' };

interface FirstStepsState {
  isPending: boolean;
  /** Whether an agent has changed a repository. */
  isFinished: boolean;
  isMerged: boolean;
  hasAsked: boolean;
  /** The pull request to review; null for none. */
  opened: ListedJob['details']['pullRequest'];
  dismiss(): void;
}

/** Returns how far an organization is that has only these jobs; null if it needs no introduction. */
export function useFirstSteps(jobs: ListedJob[] | null): FirstStepsState | null {
  const { sites } = useSession();
  const [isDismissed, setDismissed] = useState(() => localStorage.getItem(dismissedKey) !== null);
  const isNew = !isDismissed && jobs !== null && jobs.length < fewJobs;
  const merged = useQuery({
    queryKey: ['pull-request-counts'],
    queryFn: () => answerOf(api.GET('/v1/jobs/pull-request-counts')),
    select: ({ counts }) => counts.some(({ state, count }) => state === 'merged' && count > 0),
    enabled: isNew,
    refetchInterval: refetchMs,
  });
  const asked = useQueries({
    queries: sites.map(({ domain }) => ({
      queryKey: ['first-conversation', domain],
      queryFn: () =>
        answerOf(
          api.GET('/v1/sites/{domain}/conversations', {
            params: { path: { domain }, query: { ...views.answered, limit: 1 } },
          }),
        ),
      enabled: isNew,
      refetchInterval: refetchMs,
    })),
    combine: (found) => ({
      isPending: found.some(({ isPending }) => isPending),
      isError: found.some(({ isError }) => isError),
      data: found.some(({ data }) => (data?.conversations.length ?? 0) > 0),
    }),
  });
  if (!isNew || merged.isError || asked.isError || (merged.data === true && asked.data)) return null;
  const opened = jobs.find(({ details }) => details.pullRequest?.state === 'open')?.details.pullRequest ?? null;
  return {
    isPending: merged.isPending || asked.isPending,
    isFinished: opened !== null || merged.data === true,
    isMerged: merged.data === true,
    hasAsked: asked.data,
    opened,
    dismiss() {
      localStorage.setItem(dismissedKey, 'yes');
      setDismissed(true);
    },
  };
}

/** Guides a new organization to a merged pull request and an answered question. */
export function FirstSteps({ isFinished, isMerged, hasAsked, opened, dismiss }: FirstStepsState) {
  const { sites } = useSession();
  return (
    <section className="note first-steps" aria-label="First steps">
      <div className="first-steps-head">
        <h2>First steps</h2>
        <Button className="button button-quiet" onPress={dismiss}>
          Dismiss
        </Button>
      </div>
      <ol>
        <Step isDone={isFinished} title="Let an agent change a repository">
          <Link className="button button-primary" to="/new" state={{ again: { prompt: firstPrompt } }}>
            Start a job
          </Link>
        </Step>
        <Step isDone={isMerged} title="Review and merge its pull request">
          {opened !== null && (
            <Link className="button button-primary" to="/pulls/$id" params={opened}>
              Open the pull request
            </Link>
          )}
        </Step>
        <Step isDone={hasAsked} title="Get an answer from the documentation">
          <Link
            className="button"
            to="/playground"
            search={sites.some(({ domain }) => domain === sample.site) ? sample : { question: '' }}
          >
            Ask a question
          </Link>
        </Step>
      </ol>
    </section>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  return (
    <li className={isDone ? 'first-step-done' : undefined}>
      <span className="first-step-mark" role="img" aria-label={isDone ? 'Done' : 'To do'}>
        {isDone ? '✓' : ''}
      </span>
      <span>{title}</span>
      {!isDone && children}
    </li>
  );
}
