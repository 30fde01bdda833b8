import { nameOfActor } from '../actor.ts';
import type { Job, JobPullRequest, Turn } from '../http/types.ts';
import { Images } from './images.tsx';
import { Copy } from '../components/copy.tsx';
import { Ago } from '../components/time.tsx';
import { beginning, plain } from '../plain.ts';
import { stepKeyOf, type JobRef, type LiveOutput } from './job-queries.ts';
import { StepItem } from './timeline/step-item.tsx';
import type { TimelineItem } from './timeline/timeline.ts';
import { TurnHead } from './turn-head.tsx';
import { TurnOutcome } from './turn-outcome.tsx';

/** Number of characters shown of a message. */
const maxMessageLength = 20_000;

interface ConversationItemProps {
  item: TimelineItem;
  job: JobRef;
  phase: Job['details']['phase'];
  /** The loaded pull requests of the job. */
  pullRequests: readonly JobPullRequest[];
  words: LiveOutput['words'];
  outputs: LiveOutput['outputs'];
  isHere: boolean;
  onInspect(anchor: string): void;
}

/** Shows one item of the conversation. */
export function ConversationItem({
  item,
  job,
  phase,
  pullRequests,
  words,
  outputs,
  isHere,
  onInspect,
}: ConversationItemProps) {
  switch (item.kind) {
    case 'prompt':
      return (
        <section aria-label={`Turn ${item.turn.turn}`}>
          <TurnHead state={item} phase={phase} pullRequests={pullRequests} />
          <PersonMessage
            job={job}
            by={item.turn.startedBy}
            text={item.turn.prompt}
            images={item.turn.images}
            createdAt={item.turn.createdAt}
          />
        </section>
      );
    case 'message':
      return (
        <PersonMessage
          job={job}
          by={item.message.sentBy}
          text={item.message.prompt}
          images={item.message.images}
          createdAt={item.message.createdAt}
          isWaiting={item.isWaiting}
        />
      );
    case 'notice':
      return <p className="note note-warn notice">{plain(item.text)}</p>;
    case 'step': {
      const { step, isOver, isCopied } = item;
      const isWorking = step.answeredAt !== null && step.endedAt === null && !isOver;
      const liveText = step.answeredAt === null ? (words.get(stepKeyOf(step))?.text ?? null) : null;
      return (
        <StepItem
          job={job}
          step={step}
          isOver={isOver}
          isCopied={isCopied}
          words={liveText}
          outputs={isWorking ? outputs : null}
          isHere={isHere}
          onInspect={onInspect}
        />
      );
    }
    case 'outcome':
      return <TurnOutcome job={job} outcome={item.outcome} pullRequests={pullRequests} lastStep={item.lastStep} />;
    default:
      return item satisfies never;
  }
}

interface PersonMessageProps {
  job: JobRef;
  by: Turn['startedBy'];
  text: string;
  images: Turn['images'];
  createdAt: string;
  /** True until the agent has read the message. */
  isWaiting?: boolean;
}

/** Shows a message from a person to a job. */
function PersonMessage({ job, by, text, images, createdAt, isWaiting = false }: PersonMessageProps) {
  const { shown, left } = beginning(plain(text), maxMessageLength);
  return (
    <div className="said">
      <p className="said-head">
        {nameOfActor(by) ?? 'A person'}{' '}
        <span className="quiet">
          <Ago date={createdAt} />
          {isWaiting && ' · the agent reads it before its next step'}
        </span>{' '}
        <Copy label="message" text={text} />
      </p>
      <p className="words">{shown}</p>
      {left > 0 && <p className="hint">{left.toLocaleString('en')} more characters not shown.</p>}
      <Images job={job} images={images} />
    </div>
  );
}
