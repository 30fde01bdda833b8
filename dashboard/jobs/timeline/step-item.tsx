import { Link } from '@tanstack/react-router';
import { lazy, memo, Suspense } from 'react';
import { Button } from 'react-aria-components';
import type { Step } from '../../http/types.ts';
import { Markdown } from '../../components/markdown.tsx';
import { Loading } from '../../components/notes.tsx';
import { Only } from '../../components/session.tsx';
import { cost, duration, tokens } from '../../format.ts';
import { plain } from '../../plain.ts';
import type { CommandOutputs } from './command-outputs.ts';
import { Copy } from '../../components/copy.tsx';
import { ForkDialog } from '../fork-dialog.tsx';
import { useKeptState } from '../kept-state.tsx';
import type { JobRef } from '../job-queries.ts';
import { addressOf, anchorOf, type StepState } from './timeline.ts';
import { ToolCallItem } from './tool-call.tsx';

const StepDiff = lazy(() => import('../../diff/step-diff.tsx').then(({ StepDiff }) => ({ default: StepDiff })));

interface StepProps extends StepState {
  job: JobRef;
  step: Step;
  /** Text of the model while its answer is streaming. */
  words: string | null;
  /** Output of running commands; null unless the step's tools run. */
  outputs: CommandOutputs | null;
  /** True if the page's address names this step. */
  isHere: boolean;
  onInspect(anchor: string): void;
}

/** Shows one step: the model's text, its tool calls, and its duration, tokens and cost. */
export const StepItem = memo(function StepItem({
  job,
  step,
  isOver,
  isCopied,
  words,
  outputs,
  isHere,
  onInspect,
}: StepProps) {
  const [shown, setShowsDiff] = useKeptState(`${anchorOf(step)} diff`);
  const showsDiff = shown === true;
  const isSpeaking = step.answeredAt === null && !isOver;
  const text = step.text ?? words ?? '';
  return (
    <article className={isHere ? 'step step-here' : 'step'} id={anchorOf(step)} aria-label={`Step ${step.step}`}>
      <div className="step-head">
        <h3>
          <Link
            to="."
            hash={anchorOf(step)}
            activeOptions={{ includeHash: true }}
            className="step-name"
            resetScroll={false}
            hashScrollIntoView={false}
            replace
          >
            Step {step.step}
          </Link>
        </h3>
        <StepMarks step={step} />
        {step.failedModels.some(({ model }) => model !== step.model) && step.model !== null && (
          <span className="badge badge-warn">answered by {plain(step.model)}</span>
        )}
        <span className="step-facts">{isCopied ? 'copied from the original job' : factsOf(step)}</span>
        <span className="step-buttons">
          <Copy label={`link to step ${step.step}`} text={addressOf(step)} />
          <Button
            className="button button-quiet"
            aria-label={`Inspect step ${step.step}`}
            onPress={() => onInspect(anchorOf(step))}
          >
            Inspect
          </Button>
          {step.endedAt !== null && (
            <Only role="member">
              <ForkDialog job={job} turn={step.turn} step={step.step} />
            </Only>
          )}
        </span>
      </div>
      {text !== '' && <Markdown text={text} />}
      {isSpeaking && <p className="speaking">{words ? '' : 'Waiting for the model…'}</p>}
      {step.toolCalls.length > 0 && (
        <div className="tools">
          {step.toolCalls.map((call) => (
            <ToolCallItem
              key={call.toolCallId}
              job={job}
              step={step}
              call={call}
              live={outputs?.get(call.toolCallId) ?? null}
              isOver={isOver}
            />
          ))}
        </div>
      )}
      {step.hasChanged && (
        <Button className="button button-quiet" aria-expanded={showsDiff} onPress={() => setShowsDiff(!showsDiff)}>
          {showsDiff ? 'Hide' : 'Show'} what this step changed
        </Button>
      )}
      {showsDiff && (
        <Suspense fallback={<Loading />}>
          <StepDiff job={job} step={step} />
        </Suspense>
      )}
    </article>
  );
});

function StepMarks({ step }: { step: Step }) {
  const retakes = step.attempts - 1;
  return (
    <>
      {step.modelFailures > 0 && (
        <span className="badge badge-warn">
          model failed {step.modelFailures === 1 ? 'once' : `${step.modelFailures} times`}
        </span>
      )}
      {retakes > step.modelFailures && <span className="badge badge-warn">handed over</span>}
    </>
  );
}

function factsOf({ startedAt, answeredAt, endedAt, usage }: Step): string {
  if (answeredAt === null) return '';
  const model = Date.parse(answeredAt) - Date.parse(startedAt);
  const tools = endedAt === null ? null : Date.parse(endedAt) - Date.parse(answeredAt);
  return [
    `model ${duration(model)}`,
    ...(tools === null ? [] : [`tools ${duration(tools)}`]),
    `${tokens(usage.inputTokens)} tokens in (${tokens(usage.cachedInputTokens)} cached), ${tokens(usage.outputTokens)} out`,
    cost(usage.costUsd),
  ].join(' · ');
}
