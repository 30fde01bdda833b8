import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { messageOf } from '../../http/client.ts';
import type { Step, ToolCall } from '../../http/types.ts';
import { useClock } from '../../components/clock.ts';
import { count, duration, plural, seconds } from '../../format.ts';
import { beginning, plain } from '../../plain.ts';
import { CommandOutputView } from './command-output.tsx';
import type { CommandOutput } from './command-outputs.ts';
import { Copy } from '../../components/copy.tsx';
import { Images } from '../images.tsx';
import { useKeptState } from '../kept-state.tsx';
import { stepQuery, type JobRef } from '../job-queries.ts';

interface ToolCallProps {
  job: JobRef;
  step: Step;
  call: ToolCall;
  /** Output of its command while it runs; null for none. */
  live?: CommandOutput | null;
  /** The turn has ended: a call without a result was stopped. */
  isOver: boolean;
  /** Whether the beginning of an error is shown before the call is opened. */
  showsError?: boolean;
}

const symbols = { running: '…', stopped: '■', failed: '✕', done: '✓' };

const maxShownLength = 200_000;
/** Part of an error that is shown before its call is opened. */
const errorBeginning = { lines: 4, characters: 400 };
/** Fields of an input, most informative first. */
const telling = ['command', 'pattern', 'query', 'path', 'url', 'from', 'title'];

/** Returns the subject of a call on one line: the path, pattern or command it names. */
export function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return typeof input === 'string' ? input : '';
  const fields: Record<string, unknown> = { ...input };
  const named = telling.map((name) => fields[name]).find((value) => typeof value === 'string');
  const value = named ?? Object.values(fields).find((one) => typeof one === 'string');
  return typeof value === 'string' ? value : '';
}

/** Shows a collapsible tool call with its input and result. */
export function ToolCallItem({ job, step, call, live = null, isOver, showsError = false }: ToolCallProps) {
  const [chosen, setOpen] = useKeptState(call.toolCallId);
  const ended = call.isError ? 'failed' : 'done';
  const state = call.output !== null ? ended : isOver ? 'stopped' : 'running';
  const printed = state === 'running' ? live : null;
  const isOpen = chosen ?? printed !== null;
  return (
    <details
      className={`tool tool-${state}`}
      open={isOpen}
      onToggle={({ currentTarget: { open } }) => open !== isOpen && setOpen(open)}
    >
      <summary>
        <span className="tool-state" aria-label={state} role="img">
          {symbols[state]}
        </span>
        <code className="tool-name">{plain(call.toolName)}</code>
        <span className="tool-subject">{plain(subjectOf(call.input)).slice(0, 300)}</span>
        <span className="tool-facts">
          {state === 'running' ? <CallTime since={step.answeredAt} output={printed} /> : factsOf(call)}
        </span>
        {showsError && state === 'failed' && !isOpen && (
          <span className="tool-error">{errorOf(call.output ?? '')}</span>
        )}
      </summary>
      {isOpen && (
        <Inside job={job} step={step} call={call} live={printed} isOver={isOver} onRead={() => setOpen(true)} />
      )}
    </details>
  );
}

/** Shows the time since a call's command, or the tools of its step, began. */
function CallTime({ since, output }: { since: string | null; output: CommandOutput | null }) {
  const startedAt = output?.startedAt ?? (since === null ? null : Date.parse(since));
  const durationMs = output?.durationMs ?? null;
  const now = useClock({ isRunning: startedAt !== null && durationMs === null });
  if (durationMs !== null) return duration(durationMs);
  return startedAt === null ? '' : `running for ${seconds(now - startedAt)}`;
}

/** Returns how long a call took and the size of its output, as text. */
function factsOf({ characters, durationMs }: Pick<ToolCall, 'characters' | 'durationMs'>): string {
  const size = characters === null ? [] : [plural(characters, 'character')];
  return [...(durationMs === null ? [] : [duration(durationMs)]), ...size].join(' · ');
}

/** Returns the first lines of an error. */
function errorOf(output: string): string {
  const text = plain(output).trim();
  const lines = text.split('\n').slice(0, errorBeginning.lines).join('\n');
  const { shown } = beginning(lines, errorBeginning.characters);
  return shown === text ? text : `${shown.toWellFormed()}…`;
}

function Inside({ job, step, call, live = null, isOver, onRead }: ToolCallProps & { onRead(): void }) {
  const [isWhole, setWhole] = useState(false);
  const whole = useQuery({ ...stepQuery(job, step), enabled: isWhole });
  const output = whole.data?.toolCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)?.output ?? call.output;
  const input = JSON.stringify(call.input, null, 2) ?? '';
  const { shown, left } = beginning(plain(output ?? ''), maxShownLength);
  const isCut = output !== null && call.characters !== null && output.length < call.characters;
  return (
    <div className="tool-inside">
      <h4>
        Arguments <Copy label="arguments" text={input} />
      </h4>
      <pre tabIndex={0}>{beginning(plain(input), maxShownLength).shown}</pre>
      {live !== null && <CommandOutputView job={job} output={live} onRead={onRead} />}
      {live === null && <h4>Result {output !== null && <Copy label="result" text={output} />}</h4>}
      {live !== null ? null : output === null ? (
        <p className="quiet">{isOver ? 'Stopped before it had a result.' : 'No result yet.'}</p>
      ) : (
        <pre tabIndex={0}>{shown || '(empty)'}</pre>
      )}
      {call.image && <Images job={job} images={[call.image]} />}
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
