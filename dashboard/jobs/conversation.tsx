import { useLocation } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  useEffect,
  useEffectEvent,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type Ref,
} from 'react';
import type { Job, Step, Turn } from '../http/types.ts';
import { Markdown } from '../components/markdown.tsx';
import { KeptStates } from './kept-state.tsx';
import { Ago } from '../components/time.tsx';
import { beginning, plain } from '../plain.ts';
import { StepItem } from './step-item.tsx';
import { StepJump } from './step-jump.tsx';
import { stepKeyOf, type JobRef, type LiveOutput } from './job-queries.ts';
import { anchorOf, timelineOf, type Outcome, type TimelineItem } from './timeline.ts';

export interface ConversationHandle {
  /** Scrolls to an item, named by its anchor. */
  show(anchor: string): void;
}

interface ConversationProps {
  ref: Ref<ConversationHandle>;
  job: JobRef;
  details: Job['details'];
  turns: Turn[];
  steps: Step[];
  live: LiveOutput;
}

/** Up to this number, all items are in the page, so that the browser's own search finds everything. */
const mostWhole = 120;
const jumpHeight = 64;
/** Number of characters shown of a message. */
const longestMessage = 20_000;

/** Shows messages and steps in order. For a long job, only the visible part is rendered. */
export function Conversation({ ref, job, details, turns, steps, live }: ConversationProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  const [kept] = useState(() => new Map<string, boolean>());
  const { notices, ends } = live;
  const items = useMemo(
    () => timelineOf({ turns, steps, details, live: { notices, ends } }),
    [turns, steps, details, notices, ends],
  );
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
  useImperativeHandle(ref, () => ({ show: jump }));
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
              <TimelineEntry item={item} job={job} live={live} isHere={item.key === hash} />
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
  /** True until the agent has read the message. */
  isWaiting?: boolean;
}

/** Shows a message from a person to a job. */
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

/** Shows the outcome of a turn: first what is incomplete, then what it did. */
function OutcomeOf({ outcome: { heading, isGood, incomplete, message, prLink } }: { outcome: Outcome }) {
  return (
    <div className={isGood ? 'outcome' : 'outcome outcome-failed'}>
      {incomplete !== null && (
        <>
          <h3>Incomplete</h3>
          <p role="status">{plain(incomplete)}</p>
        </>
      )}
      <h3>{heading}</h3>
      <Markdown text={message ?? ''} />
      {prLink !== null && <a href={prLink}>Pull request</a>}
    </div>
  );
}

interface TimelineEntryProps {
  item: TimelineItem;
  job: JobRef;
  live: LiveOutput;
  isHere: boolean;
}

function TimelineEntry({ item, job, live, isHere }: TimelineEntryProps) {
  switch (item.kind) {
    case 'prompt':
      return (
        <section aria-label={`Turn ${item.turn.turn}`}>
          <Said text={item.turn.prompt} createdAt={item.turn.createdAt} />
        </section>
      );
    case 'message':
      return <Said text={item.message.prompt} createdAt={item.message.createdAt} isWaiting={item.isWaiting} />;
    case 'notice':
      return <p className="note note-warn notice">{plain(item.text)}</p>;
    case 'step': {
      const { step, isOver, isCopied } = item;
      const words = step.answeredAt === null ? (live.words.get(stepKeyOf(step))?.text ?? null) : null;
      return <StepItem job={job} step={step} isOver={isOver} isCopied={isCopied} words={words} isHere={isHere} />;
    }
    case 'outcome':
      return <OutcomeOf outcome={item.outcome} />;
    default:
      return item satisfies never;
  }
}
