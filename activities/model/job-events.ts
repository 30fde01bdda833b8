import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import type { JobEventData, NewJobEvent } from '../../db/jobs/event-types.ts';
import { maskDeep } from '../../lib/redaction/known-secrets.ts';

type Redact = (text: string) => string;

/** Below the limit of an event (16 KB), with room for the database's form of JSON. */
const maxBytes = 12_000;
const maxFiles = 50;
const maxOutputLength = 1_000;
/** Longest line with two quoted paths. */
const maxLineLength = 40_000;

export interface AnswerCost {
  usage: TokenUsage;
  costMicros: number | null;
  finishReason: string;
}

/** Returns the events of the calls that an answer requests, and of its cost. */
export function eventsOfAnswer(answer: AnswerCost & { toolCalls: ToolCall[] }, redact: Redact): NewJobEvent[] {
  const calls = answer.toolCalls.map(({ toolCallId, toolName, input }): NewJobEvent => {
    const data = {
      toolCallId: short(redact(toolCallId)),
      toolName: short(redact(toolName)),
      input: maskDeep(input, redact),
    };
    return { type: 'tool-call', data: { ...data, input: fitted(data.input) } };
  });
  const { inputTokens, outputTokens } = answer.usage;
  const costUsd = answer.costMicros === null ? null : answer.costMicros / 1e6;
  const { finishReason } = answer;
  return [...calls, { type: 'usage', data: { inputTokens, outputTokens, costUsd, finishReason } }];
}

/** Returns the events of the calls' results, and of the change so far if it is new. */
export function eventsOfResults(results: ToolResult[], snapshot: Snapshot | null, redact: Redact): NewJobEvent[] {
  const events = results.map(({ toolCallId, toolName, output, isError }): NewJobEvent => {
    // redacted first, because truncation could split a secret
    const text = redact(output.slice(0, 4 * maxOutputLength)).slice(0, maxOutputLength);
    const call = { toolCallId: short(redact(toolCallId)), toolName: short(redact(toolName)), isError };
    return { type: 'tool-result', data: { ...call, output: text, characters: output.length } };
  });
  return snapshot === null ? events : [...events, { type: 'diff', data: diffOf(snapshot, redact) }];
}

const heading = 'diff --git ';

function diffOf({ patch, changedFiles, additions, deletions }: Snapshot, redact: Redact): JobEventData['diff'] {
  const files: string[] = [];
  // no line of a file begins like a heading, because each has a mark before it
  for (
    let at = patch.startsWith(heading) ? 0 : patch.indexOf(`\n${heading}`) + 1;
    at < patch.length && patch.startsWith(heading, at) && files.length < maxFiles;
    at = patch.indexOf(`\n${heading}`, at) + 1 || patch.length
  ) {
    const end = patch.indexOf('\n', at);
    const line = patch.slice(at, Math.min(end === -1 ? patch.length : end, at + maxLineLength));
    const [, path = ''] = /^diff --git "?a\/.*? "?b\/(.*?)"?$/s.exec(line) ?? [];
    files.push(redact(path).slice(0, 200));
  }
  while (bytesOf(files) > maxBytes) files.pop();
  return { changedFiles, additions: additions ?? 0, deletions: deletions ?? 0, files };
}

/** Returns a JSON value whose texts are truncated until it fits into an event. */
function fitted(value: unknown): unknown {
  for (const maxLength of [Number.POSITIVE_INFINITY, 4_000, 1_000, 200, 50]) {
    const cut = maskDeep(value, (text) => (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text));
    if (bytesOf(cut) <= maxBytes) return cut;
  }
  return '…';
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function short(name: string): string {
  return name.slice(0, 200);
}
