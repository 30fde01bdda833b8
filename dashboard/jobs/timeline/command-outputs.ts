import type { JobEvent } from '../../http/types.ts';

/** Output of a running command so far. */
export interface CommandOutput {
  attempt: number;
  startedAt: number;
  /** The newest part of the output. */
  text: string;
  /** Characters so far, including those that are not shown. */
  length: number;
  /** Null while the command runs. */
  durationMs: number | null;
}

/** Outputs of running commands by tool call; the empty string is the key of a command outside of steps. */
export type CommandOutputs = ReadonlyMap<string, CommandOutput>;

/** Longest text that is kept of a command's output. */
const maxTextLength = 100_000;

/** Adds an event to what commands have printed. A result replaces the output, and another attempt starts again. */
export function withOutput(outputs: CommandOutputs, { type, data, createdAt }: JobEvent): CommandOutputs {
  const { toolCallId, attempt, offset, text, durationMs } = data;
  const key = typeof toolCallId === 'string' ? toolCallId : '';
  if (type === 'tool-result' && outputs.has(key)) {
    const left = new Map(outputs);
    left.delete(key);
    return left;
  }
  if (type !== 'output' || typeof attempt !== 'number' || typeof offset !== 'number' || typeof text !== 'string') {
    return outputs;
  }
  const known = outputs.get(key);
  const before = known?.attempt === attempt ? known : { startedAt: Date.parse(createdAt), text: '', length: 0 };
  // an event that was sent twice has an offset that is known already
  const missing = offset - before.length;
  const start = missing >= 0 ? before.text : before.text.slice(0, Math.max(0, before.text.length + missing));
  const gap = missing > 0 ? `${start === '' || start.endsWith('\n') ? '' : '\n'}${skipped(missing)}\n` : '';
  return new Map(outputs).set(key, {
    attempt,
    startedAt: before.startedAt,
    text: `${start}${gap}${text}`.slice(-maxTextLength),
    length: offset + text.length,
    durationMs: typeof durationMs === 'number' ? durationMs : null,
  });
}

function skipped(characters: number): string {
  return `[… ${characters.toLocaleString('en')} characters not shown while the command runs …]`;
}
