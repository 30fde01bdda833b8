import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { Step, ToolCall } from '../http/types.ts';
import { count } from '../format.ts';
import { beginning, plain } from '../plain.ts';
import { useKeptState } from './kept-state.tsx';
import type { JobRef } from './job-queries.ts';

interface ToolCallProps {
  job: JobRef;
  step: Step;
  call: ToolCall;
  /** The turn has ended: a call without a result was stopped. */
  isOver: boolean;
}

const symbols = { running: '…', stopped: '■', failed: '✕', done: '✓' };

const longestShown = 200_000;
/** Fields of an input, most informative first. */
const telling = ['command', 'pattern', 'query', 'path', 'from', 'title'];

/** Returns the subject of a call on one line: the path, pattern or command it names. */
function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return typeof input === 'string' ? input : '';
  const fields: Record<string, unknown> = { ...input };
  const named = telling.map((name) => fields[name]).find((value) => typeof value === 'string');
  const value = named ?? Object.values(fields).find((one) => typeof one === 'string');
  return typeof value === 'string' ? value : '';
}

/** Shows a collapsible tool call with its input and result. */
export function ToolCallItem({ job, step, call, isOver }: ToolCallProps) {
  const [isOpen, setOpen] = useKeptState(call.toolCallId);
  const ended = call.isError ? 'failed' : 'done';
  const state = call.output !== null ? ended : isOver ? 'stopped' : 'running';
  return (
    <details
      className={`tool tool-${state}`}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <span className="tool-state" aria-label={state} role="img">
          {symbols[state]}
        </span>
        <code className="tool-name">{plain(call.toolName)}</code>
        <span className="tool-subject">{plain(subjectOf(call.input)).slice(0, 300)}</span>
      </summary>
      {isOpen && <Inside job={job} step={step} call={call} isOver={isOver} />}
    </details>
  );
}

function Inside({ job, step, call, isOver }: ToolCallProps) {
  const [isWhole, setWhole] = useState(false);
  const { turn, step: number } = step;
  const whole = useQuery({
    enabled: isWhole,
    queryKey: ['step', job.id, turn, number],
    queryFn: () =>
      answerOf(
        api.GET('/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}', {
          params: { path: { projectId: job.projectId, id: job.id, turn, step: number } },
        }),
      ),
  });
  const output = whole.data?.toolCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)?.output ?? call.output;
  const { shown, left } = beginning(plain(output ?? ''), longestShown);
  const isCut = output !== null && call.characters !== null && output.length < call.characters;
  return (
    <div className="tool-inside">
      <h4>Arguments</h4>
      <pre tabIndex={0}>{beginning(plain(JSON.stringify(call.input, null, 2) ?? ''), longestShown).shown}</pre>
      <h4>Result</h4>
      {output === null ? (
        <p className="quiet">{isOver ? 'Stopped before it had a result.' : 'No result yet.'}</p>
      ) : (
        <pre tabIndex={0}>{shown || '(empty)'}</pre>
      )}
      {isCut && (
        <Button className="button" isDisabled={whole.isFetching} onPress={() => setWhole(true)}>
          Show all {count(call.characters ?? 0)} characters
        </Button>
      )}
      {left > 0 && <p className="hint">{count(left)} more characters not shown.</p>}
      {whole.isError && <p className="field-error">{messageOf(whole.error)}</p>}
    </div>
  );
}
