import { useLocation } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Job, Step, Turn } from '../http/types.ts';
import { Markdown } from '../components/markdown.tsx';
import { KeptStates } from './kept-state.tsx';
import { Ago } from '../components/time.tsx';
import { beginning, plain } from '../plain.ts';
import { StepItem } from './step-item.tsx';
import { StepJump } from './step-jump.tsx';
import { stepKeyOf, type JobRef, type LiveOutput } from './job-queries.ts';
import { anchorOf, timelineOf, type TimelineItem } from './timeline.ts';

interface ConversationProps {
  job: JobRef;
  details: Job['details'];
  turns: Turn[];
  steps: Step[];
  live: LiveOutput;
}

/** Up to so many, all are in the page, so that the browser's own search finds everything. */
const mostWhole = 120;
const jumpHeight = 64;
/** Characters of a message. */
const longestMessage = 20_000;

/** What people said and what the agent did, in order. Of a long job only what is in sight exists. */
export function Conversation({ job, details, turns, steps, live }: ConversationProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  const [kept] = useState(() => new Map<string, boolean>());
  const hasOutcome = details.phase === null && (details.message ?? details.incomplete) !== null;
  const items = useMemo(() => timelineOf(turns, steps, hasOutcome), [turns, steps, hasOutcome]);
  useLayoutEffect(() => {
    const top = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(top - offset) >= 1) setOffset(top);
  });
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => (items[index]?.kind === 'step' ? 130 : 90),
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: items.length <= mostWhole ? mostWhole : 6,
    scrollMargin: offset,
    scrollPaddingStart: jumpHeight,
  });
  const jump = useEffectEvent((anchor: string) => {
    const index = items.findIndex(({ key }) => key === anchor);
    if (index !== -1) rows.scrollToIndex(index, { align: 'start' });
  });
  const hash = useLocation({ select: (location) => location.hash });
  const isThere = items.some(({ key }) => key === hash);
  useEffect(() => {
    if (isThere) jump(hash);
  }, [hash, isThere]);
  const last = steps.at(-1);
  const follow = () => {
    if (last !== undefined) jump(anchorOf(last));
  };
  return (
    <KeptStates value={kept}>
      {steps.length > 10 && (
        <StepJump steps={steps} isActive={details.phase !== null} onJump={jump} onFollow={follow} />
      )}
      <div
        ref={list}
        role="list"
        aria-label="Conversation"
        className="conversation"
        style={{ height: rows.getTotalSize() }}
      >
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index];
          if (item === undefined) return null;
          return (
            <div
              key={key}
              ref={rows.measureElement}
              data-index={index}
              role="listitem"
              aria-posinset={index + 1}
              aria-setsize={items.length}
              className={
                item.kind === 'prompt' || item.kind === 'outcome' ? 'timeline-item' : 'timeline-item timeline-step'
              }
              style={{ transform: `translateY(${start - offset}px)` }}
            >
              <TimelineEntry item={item} job={job} details={details} live={live} isHere={item.key === hash} />
            </div>
          );
        })}
      </div>
    </KeptStates>
  );
}

interface SaidProps {
  text: string;
  createdAt: string;
  /** The agent has not read it yet. */
  isWaiting?: boolean;
}

/** What a person said to a job. */
function Said({ text, createdAt, isWaiting = false }: SaidProps) {
  const { shown, left } = beginning(plain(text), longestMessage);
  return (
    <div className="said">
      <p className="said-head">
        You{' '}
        <span className="quiet">
          <Ago date={createdAt} />
          {isWaiting && ' · the agent reads it before its next step'}
        </span>
      </p>
      <p className="words">{shown}</p>
      {left > 0 && <p className="hint">{left.toLocaleString('en')} more characters not shown.</p>}
    </div>
  );
}

/** The last words of a job: what it did, and before that what it did not do. */
function Outcome({ details: { failure, incomplete, message } }: { details: Job['details'] }) {
  return (
    <div className={failure === null && incomplete === null ? 'outcome' : 'outcome outcome-failed'}>
      {incomplete !== null && (
        <>
          <h3>Incomplete</h3>
          <p role="status">{plain(incomplete)}</p>
        </>
      )}
      <h3>{failure === null ? 'Agent' : 'Result'}</h3>
      <Markdown text={message ?? ''} />
    </div>
  );
}

interface TimelineEntryProps {
  item: TimelineItem;
  job: JobRef;
  details: Job['details'];
  live: LiveOutput;
  isHere: boolean;
}

function TimelineEntry({ item, job, details, live, isHere }: TimelineEntryProps) {
  switch (item.kind) {
    case 'prompt':
      return (
        <section aria-label={`Turn ${item.turn.turn}`}>
          <Said text={item.turn.prompt} createdAt={item.turn.createdAt} />
        </section>
      );
    case 'message':
      return <Said text={item.message.prompt} createdAt={item.message.createdAt} isWaiting={item.isWaiting} />;
    case 'step': {
      const { step } = item;
      const words = step.answeredAt === null ? (live.words.get(stepKeyOf(step))?.text ?? null) : null;
      return <StepItem job={job} step={step} words={words} isHere={isHere} />;
    }
    case 'outcome':
      return <Outcome details={details} />;
    default:
      return item satisfies never;
  }
}
