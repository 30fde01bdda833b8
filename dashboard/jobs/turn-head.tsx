import { nameOfActor } from '../actor.ts';
import { clockTime, dayAndTime, duration } from '../format.ts';
import { PullRequestBadge, pullRequestName } from '../components/status.tsx';
import type { Job, JobPullRequest } from '../http/types.ts';
import type { TurnState } from './timeline/timeline.ts';

interface TurnHeadProps {
  state: TurnState;
  phase: Job['details']['phase'];
  /** The loaded pull requests of the job. */
  pullRequests: readonly JobPullRequest[];
}

const classes = {
  active: 'badge-active',
  completed: 'badge-completed',
  failed: 'badge-failed',
  cancelled: 'badge-archived',
  waiting: 'badge-warn',
};

/** Shows the head of a turn: when it began and by whom, how it ended, and its pull request. */
export function TurnHead({ state: { turn, end, prLink, isNewest }, phase, pullRequests }: TurnHeadProps) {
  const { status, createdAt, endedAt } = turn;
  const ended = end?.isCancelled === true ? 'cancelled' : status;
  const label = isNewest && phase === 'waiting' ? phase : ended;
  const by = nameOfActor(turn.startedBy);
  const endedBy = nameOfActor(turn.endedBy);
  const startedAt = Date.parse(createdAt);
  const isToday = new Date(startedAt).toDateString() === new Date().toDateString();
  return (
    <header className="turn-head">
      <h2>Turn {turn.turn}</h2>
      <time dateTime={createdAt}>{isToday ? clockTime(startedAt) : dayAndTime(startedAt)}</time>
      {by !== null && <span className="quiet">by {by}</span>}
      <span className="turn-end">
        <span className={`badge ${classes[label]}`}>{label}</span>
        {endedBy !== null && <span className="quiet"> by {endedBy}</span>}
      </span>
      {endedAt !== null && <span className="quiet">took {duration(Date.parse(endedAt) - startedAt)}</span>}
      {prLink !== null && <PullRequestLink prLink={prLink} pullRequests={pullRequests} hasState />}
    </header>
  );
}

interface PullRequestLinkProps {
  prLink: string;
  /** The loaded pull requests of the job. */
  pullRequests: readonly JobPullRequest[];
  /** Shows its state, too. */
  hasState?: boolean;
}

/** Shows the link of a turn's pull request. */
export function PullRequestLink({ prLink, pullRequests, hasState = false }: PullRequestLinkProps) {
  const known = pullRequests.find(({ id, link }) => link === prLink || prLink.endsWith(`/pulls/${id}`));
  if (known === undefined) return <a href={prLink}>{nameOfLink(prLink)}</a>;
  return (
    <>
      <a href={`/pulls/${known.id}`}>{pullRequestName(known.number)}</a>
      {hasState && <PullRequestBadge {...known} />}
    </>
  );
}

/** Returns a pull request's name, with its number if its address has one. */
export function nameOfLink(prLink: string): string {
  const [, number = null] = /\/(?:pull|pulls|merge_requests)\/(\d+)\/?$/.exec(prLink) ?? [];
  return pullRequestName(number);
}
