import { useQuery } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Button } from 'react-aria-components';
import { createPortal, flushSync } from 'react-dom';
import { messageOf } from '../../http/client.ts';
import type { Job, Step, Turn } from '../../http/types.ts';
import { clockTime, cost, count, duration, plural } from '../../format.ts';
import { plain } from '../../plain.ts';
import { recordedAttemptQuery } from './attempt-history.ts';
import { attemptsOf, type LostAttempt } from './attempts.ts';
import { ExactPrompt } from './exact-prompt.tsx';
import { InspectedText } from './inspected-text.tsx';
import { Copy } from '../../components/copy.tsx';
import { stepKeyOf, stepQuery, type JobRef, type LiveOutput } from '../job-queries.ts';
import { addressOf, anchorOf } from './timeline.ts';
import { ToolCallItem } from './tool-call.tsx';
import '../../styles/inspector.css';

interface StepInspectorProps {
  job: JobRef;
  /** The step as listed, with its texts truncated. */
  step: Step;
  turn: Turn | undefined;
  details: Pick<Job['details'], 'reasoningEffort' | 'maxOutputTokens'>;
  /** First step that the job took itself in the turn; a fork has copied the ones before. */
  firstStep: number;
  live: LiveOutput;
  onClose(): void;
}

/** Shows everything that is known about a step, beside the conversation. */
export function StepInspector({ job, step: listed, turn, details, firstStep, live, onClose }: StepInspectorProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const whole = useQuery(stepQuery(job, listed));
  const step = whole.data ?? listed;
  const name = `${step.turn}.${step.step}`;
  useInertPage();
  useEffect(() => heading.current?.focus(), []);
  const close = () => {
    // until then, the page may not take the focus
    flushSync(onClose);
    document.querySelector<HTMLElement>(`#${anchorOf(step)} .step-name`)?.focus({ preventScroll: true });
  };
  const notices = live.notices.filter((notice) => notice.turn === step.turn && notice.step === step.step);
  return createPortal(
    <aside
      className="inspector"
      aria-label="Step inspector"
      onKeyDown={({ key }) => {
        if (key === 'Escape') close();
      }}
    >
      <div className="inspector-head">
        <h2 ref={heading} tabIndex={-1}>
          Step {step.step} <span className="quiet">of turn {step.turn}</span>
        </h2>
        <Copy label="link to this step" text={addressOf(step)} />
        <Button className="button button-quiet" onPress={close}>
          Close
        </Button>
      </div>
      {whole.isError && <p className="field-error">{messageOf(whole.error)}</p>}
      <Parameters step={step} details={details} />
      {notices.map(({ text }, index) => (
        <p key={`${index} ${text.length}`} className="note note-warn notice">
          {plain(text)}
        </p>
      ))}
      <Attempts job={job} step={step} live={live} position={step.step - firstStep} isOver={turn?.endedAt !== null} />
      <Part title="Prompt">
        {promptOf(step, turn).map(({ from, text }) => (
          <InspectedText key={`${from} ${text.length}`} title={from} text={text} />
        ))}
        {step.step > 1 && <p className="hint">The model also read the steps before this one.</p>}
        <ExactPrompt key={name} job={job} step={step} />
      </Part>
      <Part title="Response">
        {step.text === null || step.text === '' ? (
          <p className="quiet">{step.answeredAt === null ? 'No response yet.' : 'Only tool calls.'}</p>
        ) : (
          <InspectedText title="Text" text={step.text} />
        )}
      </Part>
      {step.toolCalls.length > 0 && (
        <Part title={`${plural(step.toolCalls.length, 'tool call')}${toolTime(step)}`}>
          <div className="tools">
            {step.toolCalls.map((call) => (
              <ToolCallItem
                key={`${name} ${call.toolCallId}`}
                job={job}
                step={step}
                call={call}
                isOver={turn?.endedAt !== null}
                showsError
              />
            ))}
          </div>
        </Part>
      )}
    </aside>,
    document.body,
  );
}

/** Makes the page inert while the inspector covers it, which it does in windows that are not wider. */
function useInertPage(): void {
  useLayoutEffect(() => {
    const page = document.querySelector('#root');
    const isCovered = matchMedia('(max-width: 31rem)');
    const update = () => page?.toggleAttribute('inert', isCovered.matches);
    update();
    isCovered.addEventListener('change', update);
    return () => {
      isCovered.removeEventListener('change', update);
      page?.removeAttribute('inert');
    };
  }, []);
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="inspector-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Parameters({ step, details }: Pick<StepInspectorProps, 'step' | 'details'>) {
  const { model, failedModels, usage, startedAt, answeredAt, finishReason } = step;
  const facts: [string, string][] = [
    ['Model', model === null ? 'none yet' : plain(model)],
    ...failedModels.map(({ model, failures }): [string, string] => [
      'Failed calls',
      `${plain(model)}: ${count(failures)}`,
    ]),
    ['Effort', details.reasoningEffort ?? 'default'],
    ['Output limit', details.maxOutputTokens === null ? 'default' : plural(details.maxOutputTokens, 'token')],
    ['Started', clockTime(Date.parse(startedAt))],
    ['Model time', answeredAt === null ? 'running' : duration(Date.parse(answeredAt) - Date.parse(startedAt))],
    ['Finish reason', finishReason ?? 'none yet'],
    ['Input tokens', count(usage.inputTokens)],
    ['Read from cache', count(usage.cachedInputTokens)],
    ['Written to cache', count(usage.cacheWriteTokens)],
    ['Uncached input', count(usage.freshInputTokens)],
    ['Output tokens', count(usage.outputTokens)],
    ['Cost', cost(usage.costUsd)],
  ];
  return (
    <dl className="inspector-facts">
      {facts.map(([name, value]) => (
        <div key={`${name} ${value}`}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface AttemptsProps {
  job: JobRef;
  step: Step;
  live: LiveOutput;
  /** Place of the step among those that the job took in the turn, from 0. */
  position: number;
  isOver: boolean;
}

function Attempts({ job, step, live, position, isOver }: AttemptsProps) {
  const { lost, lostInTools, unknown, reason } = attemptsOf(step, live.starts.get(stepKeyOf(step)));
  const isWanted = isOver && reason !== null && position >= 0;
  const recorded = useQuery({ ...recordedAttemptQuery(job, step.turn, position), enabled: isWanted });
  if (reason === null) return null;
  const worker = step.worker ?? recorded.data?.worker ?? null;
  return (
    <Part title={plural(Math.max(step.attempts, lost.length + lostInTools.length + 1), 'attempt')}>
      <p>{reason}</p>
      <ul className="inspector-attempts">
        {lost.map((attempt) => (
          <AttemptItem key={attempt.attempt} attempt={attempt} state="had no answer" />
        ))}
        {lostInTools.map((attempt) => (
          <AttemptItem key={attempt.attempt} attempt={attempt} state="had not ended" />
        ))}
        {unknown > 0 && <li>{plural(unknown, 'attempt')} stopped while the tools ran.</li>}
        {recorded.data?.problem && <li>{plain(recorded.data.problem)}</li>}
        {worker !== null && (
          <li>
            Worker <code>{plain(worker)}</code> {step.endedAt === null ? 'runs the step' : 'completed the step'}.
          </li>
        )}
      </ul>
    </Part>
  );
}

function AttemptItem({ attempt: { attempt, worker, from, to }, state }: { attempt: LostAttempt; state: string }) {
  return (
    <li>
      Attempt {attempt} began at {clockTime(from)}
      {worker !== null && (
        <>
          {' on '}
          <code>{plain(worker)}</code>
        </>
      )}{' '}
      and {state} when the next one began {duration(to - from)} later.
    </li>
  );
}

/** Returns what a step was the first to read: the prompt of its turn, and messages. */
function promptOf({ step }: Step, turn: Turn | undefined): { from: string; text: string }[] {
  if (turn === undefined) return [];
  const messages = turn.messages.filter((message) => message.step === step);
  return [
    ...(step === 1 ? [{ from: 'Prompt', text: turn.prompt }] : []),
    ...messages.map(({ prompt }) => ({ from: 'Message', text: prompt })),
  ];
}

/** The tools of a step may run at the same time; only their whole time is stored. */
function toolTime({ answeredAt, endedAt }: Step): string {
  if (answeredAt === null || endedAt === null) return '';
  return ` in ${duration(Date.parse(endedAt) - Date.parse(answeredAt))}`;
}
