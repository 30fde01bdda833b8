import { nameOfActor } from '../actor.ts';
import { clockTime, dayAndTime, duration } from '../format.ts';
import { PullRequestBadge, pullRequestName } from '../components/status.tsx';
import type { Job } from '../http/types.ts';
import type { TurnStanding } from './timeline/timeline.ts';

type PullRequest = NonNullable<Job['details']['pullRequest']>;

interface TurnHeadProps {
  standing: TurnStanding;
  details: Job['details'];
}

const classes = {
  active: 'badge-active',
  completed: 'badge-completed',
  failed: 'badge-failed',
  cancelled: 'badge-archived',
  waiting: 'badge-warn',
};

/** Shows the head of a turn: when it began and by whom, how it ended, and its pull request. */
export function TurnHead({
  standing: { turn, end, prLink, isNewest },
  details: { phase, pullRequest },
}: TurnHeadProps) {
  const { status, createdAt, endedAt } = turn;
  const ended = end?.isCancelled === true ? 'cancelled' : status;
  const label = isNewest && phase === 'waiting' ? phase : ended;
  const by = nameOfActor(turn.startedBy);
  const endedBy = nameOfActor(turn.endedBy);
  const began = Date.parse(createdAt);
  const isToday = new Date(began).toDateString() === new Date().toDateString();
  return (
    <header className="turn-head">
      <h2>Turn {turn.turn}</h2>
      <time dateTime={createdAt}>{isToday ? clockTime(began) : dayAndTime(began)}</time>
      {by !== null && <span className="quiet">by {by}</span>}
      <span className={`badge ${classes[label]}`}>{label}</span>
      {endedBy !== null && <span className="quiet">by {endedBy}</span>}
      {endedAt !== null && <span className="quiet">took {duration(Date.parse(endedAt) - began)}</span>}
      {prLink !== null && <PullRequestLink prLink={prLink} newest={pullRequest} />}
      {prLink !== null && isNewest && pullRequest !== null && <PullRequestBadge {...pullRequest} />}
    </header>
  );
}

/** Shows the link of a turn's pull request. The local forge keeps the page of a job's newest one only. */
export function PullRequestLink({ prLink, newest }: { prLink: string; newest: PullRequest | null }) {
  const isGone = /\/pulls\/pr_\w+$/.test(prLink) && !prLink.endsWith(`/${newest?.id}`);
  if (isGone) return <span className="quiet">an earlier pull request</span>;
  return <a href={prLink}>{nameOfLink(prLink, newest)}</a>;
}

/** Returns a pull request's name, with its number if it is the job's newest one or its address has one. */
export function nameOfLink(prLink: string, newest: Pick<PullRequest, 'id' | 'number'> | null): string {
  if (newest !== null && prLink.endsWith(`/pulls/${newest.id}`)) return pullRequestName(newest.number);
  const [, number = null] = /\/(?:pull|pulls|merge_requests)\/(\d+)\/?$/.exec(prLink) ?? [];
  return pullRequestName(number);
}
