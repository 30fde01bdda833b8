import { useQuery } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  useCallback,
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
import { ConversationItem } from './conversation-item.tsx';
import { KeptStates } from './kept-state.tsx';
import { pullRequestsQuery, type JobRef, type LiveOutput } from './job-queries.ts';
import { StepInspector } from './timeline/step-inspector.tsx';
import { StepJump } from './timeline/step-jump.tsx';
import { anchorOf, timelineOf } from './timeline/timeline.ts';
import { useFollow } from './timeline/use-follow.ts';
import { useStepKeys } from './timeline/use-step-keys.ts';

export interface ConversationHandle {
  /** Scrolls to an item, named by its anchor. */
  show(anchor: string): void;
}

interface ConversationProps {
  ref: Ref<ConversationHandle>;
  job: JobRef;
  snapshot: Job;
  turns: Turn[];
  steps: Step[];
  live: LiveOutput;
}

/** Up to this number, all items are in the page, so that the browser's own search finds everything. */
const maxUnvirtualized = 120;
const jumpHeight = 64;
/** Height of the field for a message, which covers the end of the window. */
const followUpHeight = 120;

/** Shows messages and steps in order. For a long job, only the visible part is rendered. */
export function Conversation({ ref, job, snapshot, turns, steps, live }: ConversationProps) {
  const { details, prLink } = snapshot;
  const isActive = details.phase !== null;
  const { data: pullRequests = [] } = useQuery(pullRequestsQuery(job, details.pullRequest));
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  const [kept] = useState(() => new Map<string, boolean>());
  const { notices, ends } = live;
  const items = useMemo(
    () => timelineOf({ turns, steps, prLink, details, live: { notices, ends } }),
    [turns, steps, prLink, details, notices, ends],
  );
  useLayoutEffect(() => {
    const top = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(top - offset) >= 1) setOffset(top);
  });
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => (items[index]?.kind === 'step' ? 130 : 90),
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: items.length <= maxUnvirtualized ? maxUnvirtualized : 6,
    scrollMargin: offset,
    scrollPaddingStart: jumpHeight,
    scrollPaddingEnd: followUpHeight,
  });
  const follow = useFollow({
    isActive,
    height: rows.getTotalSize(),
    onFollow: () => rows.scrollToIndex(items.length - 1, { align: 'auto' }),
  });
  const show = useEffectEvent((anchor: string) => {
    follow.stop();
    const index = items.findIndex(({ key }) => key === anchor);
    if (index !== -1) rows.scrollToIndex(index, { align: 'start' });
  });
  useImperativeHandle(ref, () => ({ show }));
  const hash = useLocation({ select: (location) => location.hash });
  // until the place of the list is known, a jump would miss
  const isThere = offset > 0 && items.some(({ key }) => key === hash);
  useEffect(() => {
    if (isThere) show(hash);
  }, [hash, isThere]);
  const navigate = useNavigate();
  const setHash = useCallback(
    (anchor: string) =>
      void navigate({ to: '.', hash: anchor, replace: true, resetScroll: false, hashScrollIntoView: false }),
    [navigate],
  );
  const go = (step: Step) => {
    setHash(anchorOf(step));
    show(anchorOf(step));
  };
  useStepKeys({ list, steps, hash, onGo: go });
  const [isInspecting, setInspecting] = useState(false);
  const inspected = isInspecting ? steps.find((step) => anchorOf(step) === hash) : undefined;
  const inspect = useCallback(
    (anchor: string) => {
      setHash(anchor);
      setInspecting(true);
    },
    [setHash],
  );
  return (
    <KeptStates value={kept}>
      {(isActive || steps.length > 10) && <StepJump steps={steps} isActive={isActive} follow={follow} onGo={go} />}
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
              <ConversationItem
                item={item}
                job={job}
                phase={details.phase}
                pullRequests={pullRequests}
                words={live.words}
                outputs={live.outputs}
                isHere={item.key === hash}
                onInspect={inspect}
              />
            </div>
          );
        })}
      </div>
      <div ref={follow.end} className="conversation-end" />
      {inspected !== undefined && (
        <StepInspector
          job={job}
          step={inspected}
          turn={turns.find(({ turn }) => turn === inspected.turn)}
          details={details}
          firstStep={details.forkedFrom?.turn === inspected.turn ? details.forkedFrom.step + 1 : 1}
          live={live}
          onClose={() => setInspecting(false)}
        />
      )}
    </KeptStates>
  );
}
