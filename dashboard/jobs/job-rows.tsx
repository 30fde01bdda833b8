import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import type { ListedJob } from '../http/types.ts';
import { isForOthers } from '../components/shortcuts.tsx';
import { PullRequestBadge, StatusBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { plain } from '../plain.ts';
import { cost, plural, repositoryName } from '../format.ts';

interface RowsProps {
  jobs: ListedJob[];
  hasMore: boolean;
  isFetching: boolean;
  onMore(): void;
}

/** Renders only the visible rows, however many there are. J and K move down and up. */
export function JobRows({ jobs, hasMore, isFetching, onMore }: RowsProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: jobs.length,
    estimateSize: () => 66,
    getItemKey: (index) => jobs[index]?.id ?? index,
    overscan: 12,
    scrollMargin: offset,
  });
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  const ask = useEffectEvent(onMore);
  useEffect(() => {
    if (hasMore && !isFetching && lastShown >= jobs.length - 20) ask();
  }, [hasMore, isFetching, lastShown, jobs.length]);
  useKeys(list);
  return (
    <div ref={list} role="list" aria-label="Jobs" className="rows" style={{ height: rows.getTotalSize() }}>
      {shown.map(({ index, key, start }) => {
        const job = jobs[index];
        if (job === undefined) return null;
        return (
          <div
            key={key}
            ref={rows.measureElement}
            data-index={index}
            role="listitem"
            aria-posinset={index + 1}
            aria-setsize={hasMore ? -1 : jobs.length}
            className="row-position"
            style={{ transform: `translateY(${start - offset}px)` }}
          >
            <Row job={job} />
          </div>
        );
      })}
    </div>
  );
}

const Row = memo(function Row({ job }: { job: ListedJob }) {
  const { details } = job;
  return (
    <div className="row">
      <span className="row-status">
        <StatusBadge job={job} />
      </span>
      <span className="row-main">
        <Link className="row-title" to="/jobs/$projectId/$id" params={{ projectId: job.projectId, id: job.id }}>
          {plain(details.title ?? job.prompt)}
        </Link>
        <span className="row-facts">
          <span className="row-repository">{repositoryName(job.source.repository)}</span>
          {(job.branch ?? job.source.ref) !== null && <code>{job.branch ?? job.source.ref}</code>}
          {details.failure !== null && <span className="row-failure">{details.failure.title}</span>}
          {details.failure === null && details.incomplete !== null && <span className="row-failure">Incomplete</span>}
        </span>
      </span>
      <span className="row-pr">{details.pullRequest !== null && <PullRequestBadge {...details.pullRequest} />}</span>
      <span className="row-number">{plural(details.steps, 'step')}</span>
      <span className="row-number">{cost(details.usage.costUsd)}</span>
      <span className="row-age">
        <Ago date={job.createdAt} />
      </span>
    </div>
  );
});

/** Moves between the rows with J and K, as other lists with keyboard shortcuts do. */
function useKeys(list: React.RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isForOthers(event) || (event.key !== 'j' && event.key !== 'k')) return;
      const links = [...(list.current?.querySelectorAll<HTMLElement>('.row-title') ?? [])].sort(
        (one, other) => one.getBoundingClientRect().top - other.getBoundingClientRect().top,
      );
      const at = links.findIndex((link) => link === document.activeElement);
      const next =
        at === -1
          ? links.find((link) => link.getBoundingClientRect().top >= 0)
          : links[at + (event.key === 'j' ? 1 : -1)];
      next?.focus();
      next?.scrollIntoView({ block: 'nearest' });
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [list]);
}
