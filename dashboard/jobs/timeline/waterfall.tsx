import { Link } from '@tanstack/react-router';
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useClock } from '../../components/clock.ts';
import { duration } from '../../format.ts';
import type { Step, Turn } from '../../http/types.ts';
import { plain } from '../../plain.ts';
import type { LiveOutput } from '../job-queries.ts';
import { shownKind, timesOf, type Kind, type Segment } from './segments.ts';
import { timeAxis, type TimeAxis } from './time-axis.ts';
import { timeOf, valuesOf, waterfallRows, type WaterfallRow } from './waterfall-rows.ts';
import '../../styles/waterfall.css';

interface WaterfallProps {
  turns: Turn[];
  steps: Step[];
  phases: LiveOutput['phases'];
  starts: LiveOutput['starts'];
  /** Failure category of the job; null if it did not fail. */
  failure: string | null;
  /** Shows an item of the conversation. */
  onGo(anchor: string): void;
}

const rowHeight = 26;
const names: Record<Kind, string> = {
  queue: 'queue',
  git: 'git',
  model: 'model',
  tools: 'tools',
  lost: 'failed or lost',
  waiting: 'waiting',
};
const arrows: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

/** Shows where the time of a job went: a row for each part, all turns on one axis. Renders only the visible rows. */
export const Waterfall = memo(function Waterfall({ turns, steps, phases, starts, failure, onGo }: WaterfallProps) {
  const now = useClock({ isRunning: turns.at(-1)?.endedAt === null });
  const rows = useMemo(
    () => waterfallRows({ turns, steps, live: { phases, starts }, failure }, now),
    [turns, steps, phases, starts, failure, now],
  );
  const axis = useMemo(
    () =>
      timeAxis(
        rows.flatMap(({ isTurn, segments }) =>
          isTurn ? [{ from: segments[0]?.from ?? 0, to: segments.at(-1)?.to ?? 0 }] : [],
        ),
      ),
    [rows],
  );
  const [pointed, setPointed] = useState<string | null>(null);
  const shown = rows.find(({ key }) => key === pointed);
  const totals = timesOf(rows.flatMap(({ isTurn, segments }) => (isTurn ? segments : [])));
  return (
    <section className="waterfall" aria-label="Timeline">
      <div className="waterfall-head">
        <h2>Timeline</h2>
        <ul className="legend">
          {totals.map(({ kind, ms }) => (
            <li key={kind}>
              <span className={`swatch time-${kind}`} aria-hidden="true" /> {names[kind]} {duration(ms)}
            </li>
          ))}
        </ul>
      </div>
      <div className="waterfall-axis" aria-hidden="true">
        {axis.ticks.map(({ at, position, label }) => (
          <span key={at} style={{ left: `${position * 100}%` }}>
            {label}
          </span>
        ))}
      </div>
      <Rows rows={rows} axis={axis} onPoint={setPointed} onGo={onGo} />
      <p className="waterfall-values">
        {shown === undefined ? (
          <span className="quiet">
            <span className="if-pointing">Hover over a row for details. Click or press Enter to go to its step.</span>
            <span className="if-touching">Tap a row to go to its step.</span>
          </span>
        ) : (
          plain(valuesOf(shown))
        )}
      </p>
    </section>
  );
});

interface RowsProps {
  rows: WaterfallRow[];
  axis: TimeAxis;
  onPoint(key: string | null): void;
  onGo(anchor: string): void;
}

/** Shows the rows. One of them is in the tab order; the arrow keys move between them. */
function Rows({ rows, axis, onPoint, onGo }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(0);
  const wanted = useRef<number>(null);
  const at = Math.min(current, rows.length - 1);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 10,
    // the row in the tab order stays in the page
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), at])].sort((a, b) => a - b),
  });
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index='${wanted.current}'] a`);
    if (row !== null && row !== undefined) row.focus({ preventScroll: true });
    wanted.current = null;
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const steps = arrows[event.key] ?? (event.key === 'Home' ? -rows.length : event.key === 'End' ? rows.length : 0);
    if (steps === 0) return;
    event.preventDefault();
    const next = Math.min(Math.max(at + steps, 0), rows.length - 1);
    wanted.current = next;
    setCurrent(next);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  return (
    <div ref={scroller} className="waterfall-rows" onKeyDown={onKeyDown} onMouseLeave={() => onPoint(null)}>
      <div role="list" aria-label="Parts of the job" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, key, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <div
              key={key}
              role="listitem"
              data-index={index}
              aria-posinset={index + 1}
              aria-setsize={rows.length}
              className="waterfall-position"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Link
                to="."
                search={{}}
                hash={row.anchor}
                replace
                resetScroll={false}
                hashScrollIntoView={false}
                className={row.isTurn ? 'waterfall-row waterfall-turn' : 'waterfall-row'}
                tabIndex={index === at ? 0 : -1}
                activeOptions={{ includeHash: true }}
                onMouseEnter={() => onPoint(row.key)}
                onFocus={() => {
                  setCurrent(index);
                  onPoint(row.key);
                }}
                onBlur={() => onPoint(null)}
                onClick={() => onGo(row.anchor)}
              >
                <span className="visually-hidden">{plain(valuesOf(row))}</span>
                <span className="waterfall-label" aria-hidden="true">
                  {row.label} <span className="quiet">{plain(row.tools)}</span>
                </span>
                <span className="waterfall-track">
                  {row.segments.map((segment) => (
                    <Bar key={`${segment.from} ${segment.to}`} segment={segment} axis={axis} />
                  ))}
                  {axis.breaks.map(({ position }) => (
                    <span key={position} className="waterfall-break" style={{ left: `${position * 100}%` }} />
                  ))}
                </span>
                <span className="waterfall-time" aria-hidden="true">
                  {timeOf(row)}
                </span>
              </Link>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Bar({ segment, axis }: { segment: Segment; axis: TimeAxis }) {
  const left = axis.position(segment.from);
  const width = axis.position(segment.to) - left;
  return (
    <span
      className={`waterfall-bar time-${shownKind(segment)}`}
      style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
    />
  );
}
