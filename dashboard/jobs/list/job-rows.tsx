import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import type { ListedJob } from '../../http/types.ts';
import { useSession } from '../../components/session.tsx';
import { isForOthers } from '../../components/palette/shortcuts.tsx';
import { JobRow } from './job-row.tsx';
import type { Selection } from './selection.ts';

type Order = 'newest' | 'oldest';

interface RowsProps {
  jobs: ListedJob[];
  hasMore: boolean;
  /** False while a request is on its way, or after one has failed. */
  mayAsk: boolean;
  onMore(): void;
  order: Order;
  onOrder(order: Order): void;
  selection: Selection;
}

const narrow = matchMedia('(max-width: 760px)');
const onNarrow = (changed: () => void) => {
  narrow.addEventListener('change', changed);
  return () => narrow.removeEventListener('change', changed);
};

/** Renders only the visible rows, however many there are. J and K move down and up, X selects. */
export function JobRows({ jobs, hasMore, mayAsk, onMore, order, onOrder, selection }: RowsProps) {
  const { projects } = useSession();
  const names = useMemo(() => new Map(projects.map(({ id, name }) => [id, name])), [projects]);
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0), []);
  // the style sheet gives rows these heights
  const height = useSyncExternalStore(onNarrow, () => (narrow.matches ? 64 : 40));
  const rows = useWindowVirtualizer({
    count: jobs.length,
    estimateSize: () => height,
    getItemKey: (index) => jobs[index]?.id ?? index,
    overscan: 12,
    scrollMargin: offset,
  });
  useLayoutEffect(() => rows.measure(), [height]);
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  const ask = useEffectEvent(onMore);
  useEffect(() => {
    if (hasMore && mayAsk && lastShown >= jobs.length - 20) ask();
  }, [hasMore, mayAsk, lastShown, jobs.length]);
  useKeys(list, selection.toggle);
  return (
    <div role="table" aria-label="Jobs" aria-rowcount={hasMore ? -1 : jobs.length + 1} className="job-table">
      <Head jobs={jobs} order={order} onOrder={onOrder} selection={selection} />
      <div ref={list} role="rowgroup" className="rows" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, key, start }) => {
          const job = jobs[index];
          if (job === undefined) return null;
          return (
            <div key={key} className="row-position" style={{ transform: `translateY(${start - offset}px)` }}>
              <JobRow
                job={job}
                project={names.get(job.projectId) ?? job.projectId}
                position={index + 2}
                isSelected={selection.ids.has(job.id)}
                onToggle={selection.toggle}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Head({ jobs, order, onOrder, selection }: Pick<RowsProps, 'jobs' | 'order' | 'onOrder' | 'selection'>) {
  const isAll = selection.ids.size > 0 && jobs.every(({ id }) => selection.ids.has(id));
  return (
    <div role="rowgroup" className="row-head">
      <div role="row" className="row" aria-rowindex={1}>
        <span role="columnheader" className="row-check">
          <input
            type="checkbox"
            aria-label="Select all loaded jobs"
            checked={isAll}
            onChange={() => selection.set(isAll ? [] : jobs.map(({ id }) => id))}
          />
        </span>
        {(['Status', 'Title', 'Project', 'Started by', 'Pull request'] as const).map((name) => (
          <span key={name} role="columnheader" className={columnOf[name]}>
            {name}
          </span>
        ))}
        {['Change', 'Duration', 'Cost'].map((name) => (
          <span key={name} role="columnheader" className="row-number">
            {name}
          </span>
        ))}
        <span
          role="columnheader"
          className="row-number row-age"
          aria-sort={order === 'newest' ? 'descending' : 'ascending'}
        >
          <Button className="sort" onPress={() => onOrder(order === 'newest' ? 'oldest' : 'newest')}>
            Created <span aria-hidden="true">{order === 'newest' ? '↓' : '↑'}</span>
          </Button>
        </span>
      </div>
    </div>
  );
}

const columnOf = {
  Status: 'row-status',
  Title: 'row-main',
  Project: 'row-project',
  'Started by': 'row-by',
  'Pull request': 'row-pr',
} as const;

/** Returns the id of the job whose row has the focus. */
export function focusedJob(): string | null {
  return document.activeElement?.closest('[data-job]')?.getAttribute('data-job') ?? null;
}

/** Moves between the rows with J and K, as other lists with keyboard shortcuts do, and selects with X. */
function useKeys(list: React.RefObject<HTMLDivElement | null>, toggle: (id: string) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isForOthers(event)) return;
      const focused = focusedJob();
      if (event.key === 'x' && focused !== null) toggle(focused);
      if (event.key !== 'j' && event.key !== 'k') return;
      const links = [...(list.current?.querySelectorAll<HTMLElement>('.row-title') ?? [])].sort(
        (a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top,
      );
      const at = links.findIndex((link) => link.closest('[data-job]')?.getAttribute('data-job') === focused);
      const next =
        at === -1
          ? links.find((link) => link.getBoundingClientRect().top >= 0)
          : links[at + (event.key === 'j' ? 1 : -1)];
      next?.focus();
      next?.scrollIntoView({ block: 'nearest' });
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [list, toggle]);
}
