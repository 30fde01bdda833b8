import { assistantModelMessageSchema, type AssistantModelMessage, type ModelMessage, type ToolModelMessage } from 'ai';
import type { Compaction, JobNote } from '../../../db/for-worker/job-context.ts';
import type { Prompt } from '../../../db/for-worker/jobs.ts';
import type { StepKey, StepRow } from '../../../db/for-worker/steps.ts';
import { likelyTokensOf } from '../../../models/used-tokens.ts';
import { questionCallOf } from '../../tools/ask-tool.ts';
import { imageCharacters, imagesIn, userMessageOf, shownImages } from '../images.ts';
import { ledgerText } from '../ledger.ts';
import { maskedOutput, maskInChunks } from './masking.ts';

export interface Transcript {
  /** The prompts, oldest first; each turn starts with one. */
  prompts: Prompt[];
  /** Only the steps after the compaction are needed. */
  steps: StepRow[];
  notes: JobNote[];
  /** Replaces older steps; null when nothing does. */
  compaction: Compaction | null;
}

/** Returns the part of a job's record that the call of a step is made with. `compactions` may be in any order. */
export function transcriptAt(
  record: Omit<Transcript, 'compaction'> & { compactions: Compaction[] },
  at: StepKey,
): Transcript {
  const compaction = record.compactions
    .filter((one) => !isBehind(one, at))
    .reduce<Compaction | null>((newest, one) => (newest === null || isBehind(one, newest) ? one : newest), null);
  const from = uptoOf(compaction);
  return {
    // a message that was unread when its turn ended is read in the next turn
    prompts: record.prompts.filter(
      ({ turn, step }) => turn < at.turn || (step !== null && !isBehind({ turn, step }, at)),
    ),
    steps: record.steps.filter((step) => isBehind(step, from) && isBehind(at, step)),
    notes: record.notes.filter((note) => isBehind(note, from) && !isBehind(note, at)),
    compaction,
  };
}

/** Returns the last step that a compaction covers. */
export function uptoOf(compaction: Compaction | null): StepKey {
  return compaction === null ? { turn: 0, step: 0 } : { turn: compaction.uptoTurn, step: compaction.uptoStep };
}

/** Reports whether a step comes after another. */
export function isBehind(a: StepKey, b: StepKey): boolean {
  return a.turn > b.turn || (a.turn === b.turn && a.step > b.step);
}

/**
 * Returns the conversation as the model continues it: each turn's prompt, then its answers and tool results, with
 * messages of people and notes of the service before the first answer that knew them. Except where outputs are masked and
 * after a compaction, the next call's conversation begins with this one, so that providers can cache it. `model` gets
 * only its own reasoning and provider data: another provider refuses or misreads them.
 */
export function conversationOf(
  { prompts, steps, notes, compaction }: Transcript,
  { model = null, maskedSteps = maskInChunks }: { model?: string | null; maskedSteps?: typeof maskInChunks } = {},
): ModelMessage[] {
  const answered = steps.filter((step) => step.response !== null);
  const maskBefore = maskedSteps(answered);
  const upto = uptoOf(compaction);
  const messages: ModelMessage[] = [];
  const isOld = (prompt: Prompt) => !isBehind({ turn: prompt.turn, step: prompt.step ?? Infinity }, upto);
  for (const prompt of prompts.filter(isOld)) messages.push(userMessageOf(quotedPrompt(prompt, compaction)));
  if (compaction !== null) messages.push({ role: 'user', content: compactedText(compaction) });

  const newer = prompts.filter((prompt) => !isOld(prompt));
  let next = 0;
  let previous: StepRow | null = null;
  const speak = (before: StepKey) => {
    for (let [prompt] = newer; prompt !== undefined && isDue(prompt, before); [prompt] = newer) {
      const isAnswer = previous !== null && prompt.turn > previous.turn && addAnswer(messages, previous, prompt);
      if (!isAnswer) messages.push(userMessageOf(prompt));
      else if (prompt.images !== undefined && prompt.images.length > 0)
        messages.push(userMessageOf({ ...prompt, prompt: 'The images of the answer:' }));
      previous = null;
      newer.shift();
    }
    for (; next < notes.length && !isBehind(notes[next] ?? before, before); next += 1) addNote(messages, notes[next]);
  };
  for (const [index, step] of answered.entries()) {
    speak(step);
    const isForeign = model !== null && step.model !== null && step.model !== model;
    messages.push(...messagesOf(step, { masked: index < maskBefore, isForeign }));
    previous = step;
  }
  speak({ turn: Infinity, step: Infinity });
  return messages;
}

/** Estimates the tokens of a request. */
export function estimateTokens(messages: ModelMessage[], system = ''): number {
  const characters = messages.reduce((sum, message) => sum + jsonLengthOf(message), system.length);
  return likelyTokensOf(characters);
}

const jsonLengths = new WeakMap<ModelMessage, number>();

/** Returns the length of a message as JSON with what its images count for, in characters. Each call of a job measures all of its messages. */
export function jsonLengthOf(message: ModelMessage): number {
  const length = jsonLengths.get(message) ?? JSON.stringify(message).length + imagesIn(message) * imageCharacters;
  jsonLengths.set(message, length);
  return length;
}

function isDue(prompt: Prompt, before: StepKey): boolean {
  return !isBehind({ turn: prompt.turn, step: prompt.step ?? Infinity }, before);
}

/** Adds a note to the last tool result, so that roles alternate, or as a user message where there is none. */
function addNote(messages: ModelMessage[], note: JobNote | undefined): void {
  if (note === undefined) return;
  const text = `(Note of the service: ${note.text})`;
  const last = messages.at(-1);
  const part = last?.role === 'tool' ? last.content.at(-1) : undefined;
  if (
    last?.role !== 'tool' ||
    part?.type !== 'tool-result' ||
    (part.output.type !== 'text' && part.output.type !== 'error-text')
  ) {
    messages.push({ role: 'user', content: text });
    return;
  }
  const output = { type: part.output.type, value: `${part.output.value}\n\n${text}` };
  messages.splice(-1, 1, { ...last, content: [...last.content.slice(0, -1), { ...part, output }] });
}

/** Makes the first prompt after a question the result of its call. False when the step asked nothing. */
function addAnswer(messages: ModelMessage[], step: StepRow, { prompt }: Prompt): boolean {
  const asked = questionCallOf(step);
  const last = messages.findLast(({ role }) => role === 'tool');
  if (asked === null || last?.role !== 'tool') return false;
  const part = last.content[step.response?.toolCalls.indexOf(asked) ?? -1];
  if (part?.type !== 'tool-result') return false;
  part.output = { type: 'text', value: `The person answers:\n${prompt}` };
  return true;
}

/** Returns a message of before a compaction: the task and those of the newest turn are quoted whole. */
function quotedPrompt(prompt: Prompt, compaction: Compaction | null): Prompt {
  const length = compaction?.ledger.quoteLength ?? Infinity;
  if (prompt.prompt.length <= length || isTask(prompt) || prompt.turn === compaction?.turn) return prompt;
  return {
    ...prompt,
    prompt: `${prompt.prompt.slice(0, length).toWellFormed()}… (The rest of this message is omitted.)`,
  };
}

/** Reports whether a prompt is the one that the job was created with. */
export function isTask({ turn, step }: Prompt): boolean {
  return turn === 1 && step === 0;
}

function compactedText({ summary, ledger }: Compaction): string {
  const kept = ledgerText(ledger);
  return [
    'The conversation so far has been replaced by notes. The task is quoted in full above; continue from here.',
    `Your notes:\n${summary}`,
    ...(kept === '' ? [] : [kept]),
  ].join('\n\n');
}

interface ReadAs {
  /** Whether outputs of its tools are masked. */
  masked: boolean;
  /** Whether another model answered. */
  isForeign: boolean;
}

const messageCache = () => new WeakMap<StepRow, ModelMessage[]>();
/** Messages of stored steps by how they are read: a worker caches a job's steps, and each call sends all of them. */
const knownMessages = {
  own: { whole: messageCache(), masked: messageCache() },
  foreign: { whole: messageCache(), masked: messageCache() },
};

function messagesOf(step: StepRow, as: ReadAs): ModelMessage[] {
  const known = knownMessages[as.isForeign ? 'foreign' : 'own'][as.masked ? 'masked' : 'whole'];
  const messages = known.get(step) ?? readMessages(step, as);
  known.set(step, messages);
  return messages;
}

function readMessages(step: StepRow, { masked, isForeign }: ReadAs): ModelMessage[] {
  const { response, toolResults } = step;
  if (response === null || response.content.length === 0) return [];
  const stored = assistantModelMessageSchema.parse({ role: 'assistant', content: response.content });
  const idOf = (id: string) => (isForeign ? foreignCallId(step, id) : id);
  const answer = isForeign ? withoutProviderData(stored, idOf) : stored;
  if (answer.content.length === 0) return [];
  if (response.toolCalls.length === 0) return [answer];
  const results = new Map(toolResults?.map((result) => [result.toolCallId, result]));
  const message: ToolModelMessage = {
    role: 'tool',
    content: response.toolCalls.map((call) => {
      const { toolCallId, toolName } = call;
      // providers reject a call without a result forever
      const { output, isError, image } = results.get(toolCallId) ?? unrun;
      const value = masked ? maskedOutput(call, output, image !== undefined) : output;
      return {
        type: 'tool-result',
        toolCallId: idOf(toolCallId),
        toolName,
        output: { type: isError ? 'error-text' : 'text', value },
      };
    }),
  };
  const images = masked ? [] : (toolResults ?? []).flatMap(({ image }) => image ?? []);
  return images.length === 0 ? [answer, message] : [answer, message, shownImages(images)];
}

/** Returns an answer without what only its own model understands: reasoning and signatures, and with other ids. */
function withoutProviderData(answer: AssistantModelMessage, idOf: (id: string) => string): AssistantModelMessage {
  if (typeof answer.content === 'string') return answer;
  const content = answer.content.flatMap((part) => {
    if (part.type !== 'text' && part.type !== 'tool-call') return [];
    const { providerOptions: _, ...rest } = part;
    return [rest.type === 'tool-call' ? { ...rest, toolCallId: idOf(rest.toolCallId) } : rest];
  });
  return { role: 'assistant', content };
}

/**
 * Returns an id for a call of another model that every provider accepts, whatever that model's ids look like: nine letters
 * and digits, which is what Mistral requires. It is made of the call's position, so it is unique in a job and never changes.
 */
function foreignCallId({ turn, step, response }: StepRow, id: string): string {
  const call = response?.toolCalls.findIndex(({ toolCallId }) => toolCallId === id) ?? 0;
  return `${inBase36(turn, 3)}${inBase36(step, 4)}${inBase36(call, 2)}`;
}

function inBase36(value: number, digits: number): string {
  return value.toString(36).padStart(digits, '0');
}

const unrun = { output: 'This call was not run.', isError: true, image: undefined };
