import { Fragment } from 'react';
import type { Job, Step, Turn } from '../http/types.ts';
import { Markdown } from '../components/markdown.tsx';
import { Ago } from '../components/time.tsx';
import { beginning, plain } from '../plain.ts';
import { StepItem } from './step-item.tsx';
import { placeOf, type JobRef, type LiveStory } from './story.ts';

interface ConversationProps {
  job: JobRef;
  details: Job['details'];
  turns: Turn[];
  steps: Step[];
  live: LiveStory;
}

/** What people said and what the agent did, in order. */
export function Conversation({ job, details, turns, steps, live }: ConversationProps) {
  return (
    <div className="conversation">
      {turns.map((turn, index) => {
        const ofTurn = steps.filter((step) => step.turn === turn.turn);
        const isNewest = index === turns.length - 1;
        return (
          <section key={turn.turn} aria-label={`Turn ${turn.turn}`}>
            <Said text={turn.prompt} createdAt={turn.createdAt} />
            <ol className="steps">
              {ofTurn.map((step) => {
                return (
                  <Fragment key={placeOf(step)}>
                    {turn.messages
                      .filter((message) => message.step === step.step)
                      .map((message) => (
                        <li key={message.createdAt} className="step-message">
                          <Said text={message.prompt} createdAt={message.createdAt} />
                        </li>
                      ))}
                    <StepItem
                      job={job}
                      step={step}
                      words={step.answeredAt === null ? (live.words.get(placeOf(step))?.text ?? null) : null}
                    />
                  </Fragment>
                );
              })}
            </ol>
            {turn.messages
              .filter(({ step }) => step === null)
              .map((message) => (
                <Said key={message.createdAt} text={message.prompt} createdAt={message.createdAt} isWaiting />
              ))}
            {isNewest && details.phase === null && details.message !== null && (
              <div className="outcome">
                <h3>{details.failure === null ? 'The agent says' : 'How it ended'}</h3>
                <Markdown text={details.message} />
              </div>
            )}
          </section>
        );
      })}
    </div>
  );
}

const longest = 20_000;

function Said({ text, createdAt, isWaiting = false }: { text: string; createdAt: string; isWaiting?: boolean }) {
  const { shown, left } = beginning(plain(text), longest);
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
      {left > 0 && <p className="hint">{left.toLocaleString('en')} further characters are not shown.</p>}
    </div>
  );
}
