import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import { nameOfActor } from '../../actor.ts';
import { ChangeSize } from '../../components/change-size.tsx';
import { PullRequestBadge, StatusBadge } from '../../components/status.tsx';
import { Ago, Elapsed } from '../../components/time.tsx';
import { cost, duration, plural } from '../../format.ts';
import type { ListedJob } from '../../http/types.ts';
import { plain } from '../../plain.ts';

interface RowProps {
  job: ListedJob;
  project: string;
  /** Position in the table, from 1; its head is row 1. */
  position: number;
  isSelected: boolean;
  onToggle(id: string): void;
}

/** Shows a job as a row of the list. */
export const JobRow = memo(function JobRow({ job, project, position, isSelected, onToggle }: RowProps) {
  const { details } = job;
  const title = plain(details.title ?? job.prompt);
  // the status says that it was cancelled
  const failure = details.failure !== null && details.failure.category !== 'cancelled' && (
    <span className="row-failure" title={details.failure.title}>
      {details.failure.title}
    </span>
  );
  return (
    <div role="row" aria-rowindex={position} data-selected={isSelected || undefined} className="row" data-job={job.id}>
      <span role="cell" className="row-check">
        <input type="checkbox" aria-label={`Select ${title}`} checked={isSelected} onChange={() => onToggle(job.id)} />
      </span>
      <span role="cell" className="row-status">
        <StatusBadge job={job} />
      </span>
      <span role="cell" className="row-main">
        <Link className="row-title" to="/jobs/$projectId/$id" params={{ projectId: job.projectId, id: job.id }}>
          {title}
        </Link>
        {details.pullRequest !== null && failure}
        {details.failure === null && details.incomplete !== null && (
          <span className="row-failure row-incomplete">Incomplete</span>
        )}
      </span>
      <span role="cell" className="row-project" title={project}>
        {project}
      </span>
      <span role="cell" className="row-by">
        {nameOfActor(job.startedBy)}
      </span>
      <span role="cell" className="row-pr">
        {details.pullRequest === null ? (
          failure
        ) : (
          <Link to="/pulls/$id" params={details.pullRequest}>
            <span className="visually-hidden">Pull request of {title}: </span>
            {details.pullRequest.number !== null && <span>#{details.pullRequest.number}</span>}
            <PullRequestBadge {...details.pullRequest} />
          </Link>
        )}
      </span>
      <span role="cell" className="row-number row-change">
        <ChangeSize {...job} />
      </span>
      <span role="cell" className={job.status === 'active' ? 'row-number row-elapsed' : 'row-number'}>
        <JobTime job={job} />
      </span>
      <span role="cell" className="row-number">
        {cost(details.usage.costUsd)}
      </span>
      <span role="cell" className="row-number row-age">
        <Ago date={job.createdAt} />
      </span>
    </div>
  );
});

/** Shows how long a job has been queued, running or waiting for a person, or how long it took. */
function JobTime({ job }: { job: ListedJob }) {
  const { phase, waiting } = job.details;
  const since = waiting?.since ?? job.activeSince;
  if (since === null) return timeOf(job);
  return <Elapsed since={since} doing={phase === 'queued' || phase === 'waiting' ? phase : 'running'} />;
}

/** Returns how long a job took. Between turns a job waits for people, so of several turns only the number says much. */
function timeOf({ turn, createdAt, endedAt }: Pick<ListedJob, 'turn' | 'createdAt' | 'endedAt'>): string {
  if (turn > 1) return plural(turn, 'turn');
  return endedAt === null ? '' : duration(Date.parse(endedAt) - Date.parse(createdAt));
}
