import { assistantModelMessageSchema, type ModelMessage, type ToolModelMessage } from 'ai';
import type { Compaction, JobNote } from '../../db/for-worker/job-context.ts';
import type { Prompt } from '../../db/for-worker/jobs.ts';
import type { StepRow, ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import { likelyTokensOf } from '../../models/used-tokens.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { ledgerText } from './ledger.ts';

export interface Transcript {
  /** What was asked, oldest first: each turn begins with one. */
  prompts: Prompt[];
  /** Those behind the compaction are enough. */
  steps: StepRow[];
  notes: JobNote[];
  /** What stands in place of older steps; null: nothing does. */
  compaction: Compaction | null;
}

/** Tool outputs of the newest steps always stay whole. */
const recentSteps = 10;
/** Outputs are masked in groups of so many steps: in between, a request begins as the one before, which caches read. */
const maskedAtOnce = 10;
/** Above this many characters of tool output, the older ones are masked. */
const largeTranscript = 40_000;
/** Masking a shorter output would save nothing. */
const shortOutput = 400;

type StepKey = Pick<StepRef, 'turn' | 'step'>;

/** The part of a job's record that the call of a step is made with. `compactions` may be in any order. */
export function transcriptAt(
  record: Omit<Transcript, 'compaction'> & { compactions: Compaction[] },
  at: StepKey,
): Transcript {
  const compaction = record.compactions
    .filter((one) => !isBehind(one, at))
    .reduce<Compaction | null>((newest, one) => (newest === null || isBehind(one, newest) ? one : newest), null);
  const from = uptoOf(compaction);
  return {
    // what nobody had read when a turn ended is read in the next one
    prompts: record.prompts.filter(
      ({ turn, step }) => turn < at.turn || (step !== null && !isBehind({ turn, step }, at)),
    ),
    steps: record.steps.filter((step) => isBehind(step, from) && isBehind(at, step)),
    notes: record.notes.filter((note) => isBehind(note, from) && !isBehind(note, at)),
    compaction,
  };
}

/** The last step that a compaction stands for. */
export function uptoOf(compaction: Compaction | null): StepKey {
  return compaction === null ? { turn: 0, step: 0 } : { turn: compaction.uptoTurn, step: compaction.uptoStep };
}

/** Whether a step comes after another. */
export function isBehind(one: StepKey, other: StepKey): boolean {
  return one.turn > other.turn || (one.turn === other.turn && one.step > other.step);
}

/**
 * The conversation as the model is asked to continue it: each turn's prompt, then its answers and tool results, and what a
 * person or the service said meanwhile before the answer that was the first to know it.
 */
export function conversationOf({ prompts, steps, notes, compaction }: Transcript): ModelMessage[] {
  const answered = steps.filter((step) => step.response !== null);
  const maskBefore = maskedSteps(answered);
  const upto = uptoOf(compaction);
  const messages: ModelMessage[] = [];
  const isOld = (prompt: Prompt) => !isBehind({ turn: prompt.turn, step: prompt.step ?? Infinity }, upto);
  for (const { prompt } of prompts.filter(isOld)) messages.push({ role: 'user', content: prompt });
  if (compaction !== null) messages.push({ role: 'user', content: compactedText(compaction) });

  const newer = prompts.filter((prompt) => !isOld(prompt));
  let next = 0;
  const speak = (before: StepKey) => {
    for (let [prompt] = newer; prompt !== undefined && isDue(prompt, before); [prompt] = newer) {
      messages.push({ role: 'user', content: prompt.prompt });
      newer.shift();
    }
    for (; next < notes.length && !isBehind(notes[next] ?? before, before); next += 1) addNote(messages, notes[next]);
  };
  for (const [index, step] of answered.entries()) {
    speak(step);
    messages.push(...messagesOf(step, index < maskBefore));
  }
  speak({ turn: Infinity, step: Infinity });
  return messages;
}

/** How many tokens a request likely has. */
export function estimateTokens(messages: ModelMessage[], system = ''): number {
  const characters = messages.reduce((sum, message) => sum + JSON.stringify(message).length, system.length);
  return likelyTokensOf(characters);
}

function isDue(prompt: Prompt, before: StepKey): boolean {
  return !isBehind({ turn: prompt.turn, step: prompt.step ?? Infinity }, before);
}

function maskedSteps(answered: StepRow[]): number {
  if (!isLarge(answered)) return 0;
  return Math.max(0, Math.floor((answered.length - recentSteps) / maskedAtOnce) * maskedAtOnce);
}

/** In the last tool result, so that the roles go on taking turns; as words of the user's where there is none. */
function addNote(messages: ModelMessage[], note: JobNote | undefined): void {
  if (note === undefined) return;
  const text = `(Note of the service: ${note.text})`;
  const last = messages.at(-1);
  const part = last?.role === 'tool' ? last.content.at(-1) : undefined;
  if (part?.type !== 'tool-result' || (part.output.type !== 'text' && part.output.type !== 'error-text')) {
    messages.push({ role: 'user', content: text });
    return;
  }
  part.output = { type: part.output.type, value: `${part.output.value}\n\n${text}` };
}

function compactedText({ summary, ledger }: Compaction): string {
  const kept = ledgerText(ledger);
  return [
    'The conversation so far has been replaced by notes. The task is quoted in full above; continue from here.',
    `Your notes:\n${summary}`,
    ...(kept === '' ? [] : [kept]),
  ].join('\n\n');
}

function messagesOf({ response, toolResults }: StepRow, masked: boolean): ModelMessage[] {
  if (response === null || response.content.length === 0) return [];
  const answer = assistantModelMessageSchema.parse({ role: 'assistant', content: response.content });
  if (response.toolCalls.length === 0) return [answer];
  const results = new Map(toolResults?.map((result) => [result.toolCallId, result]));
  const message: ToolModelMessage = {
    role: 'tool',
    content: response.toolCalls.map((call) => {
      const { toolCallId, toolName } = call;
      // providers refuse a call without a result for ever
      const { output, isError } = results.get(toolCallId) ?? { output: 'This call was not run.', isError: true };
      const value = masked ? maskedOutput(call, output) : output;
      return { type: 'tool-result', toolCallId, toolName, output: { type: isError ? 'error-text' : 'text', value } };
    }),
  };
  return [answer, message];
}

function maskedOutput({ toolName, input }: ToolCall, output: string): string {
  if (output.length <= shortOutput) return output;
  const path = typeof input === 'object' && input !== null && 'path' in input ? input.path : null;
  const what = typeof path === 'string' ? `${toolName} of ${path.slice(0, 200)}` : toolName;
  const etag = /\betag [0-9a-f]{6,64}\b/.exec(output.slice(0, 500))?.[0];
  const known = etag === undefined ? '' : `, ${etag}`;
  return `[${output.length} characters of an earlier ${what}${known} omitted; make the same call again if you need them]`;
}

function isLarge(steps: StepRow[]): boolean {
  return steps.reduce((sum, { toolResults }) => sum + sizeOf(toolResults), 0) > largeTranscript;
}

function sizeOf(results: ToolResult[] | null): number {
  return results?.reduce((sum, { output }) => sum + output.length, 0) ?? 0;
}
