import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createOfflineModel, wordsOf, type AnswerPart } from '../offline-model.ts';
import { grammarHelp, parsePrompt } from './grammar.ts';
import { cut, type ToolCall } from './move.ts';
import { describe, nextMove, pathsOf, type Task } from './moves.ts';
import { readTranscript, type Transcript } from './transcript.ts';

/** A language model that does, with the agent's own tools, the literal edits its small grammar understands. */
export function createOfflineEditor(): LanguageModelV4 {
  return createOfflineModel({ modelId: 'editor', answer });
}

interface Work {
  tasks: Task[];
  unknown: string[];
}

function* answer({ prompt, tools, toolChoice }: LanguageModelV4CallOptions): Generator<AnswerPart> {
  const available = new Set(toolChoice?.type === 'none' ? [] : tools?.map((tool) => tool.name));
  const transcript = readTranscript(prompt);
  const work = workOf(transcript);
  const calls = nextCalls(work.tasks, transcript);
  if (calls.length > 0 && calls.every((call) => available.has(call.toolName))) {
    yield* wordsOf(announcementOf(calls));
    for (const call of calls) yield { type: 'call', ...call };
    return;
  }
  const isLastCall = available.size === 1 && available.has('finish');
  const report = reportOf(
    work,
    transcript,
    isLastCall ? 'the turn reached a limit before it' : 'the tools it needs are not available',
  );
  if (available.has('finish') && transcript.requests.length > 0) {
    const again = transcript.refusedFinishes === 0 ? '' : String(transcript.refusedFinishes + 1);
    const id = `u${transcript.requests.at(-1)?.id ?? 0}_finish${again}`;
    yield { type: 'call', id, toolName: 'finish', input: { ...report } };
    return;
  }
  yield* wordsOf(report.summary);
}

function workOf({ requests }: Transcript): Work {
  const work: Work = { tasks: [], unknown: [] };
  for (const request of requests) {
    for (const [index, sentence] of parsePrompt(request.text).entries()) {
      if (sentence.commands === null) work.unknown.push(sentence.text);
      for (const [position, command] of (sentence.commands ?? []).entries()) {
        work.tasks.push({ id: `u${request.id}_s${index + 1}_c${position + 1}`, command });
      }
    }
  }
  return work;
}

/** How many commands share a batch when none of them touches a path of another. */
const maxTogether = 20;

/** The calls of the first commands that have not ended: as many as are independent of each other. */
function nextCalls(tasks: Task[], transcript: Transcript): ToolCall[] {
  let start = 0;
  while (start < tasks.length) {
    const group = independentFrom(tasks, start);
    const calls = group.flatMap((task) => {
      const move = nextMove(task, transcript);
      return move.kind === 'calls' ? move.calls : [];
    });
    if (calls.length > 0) return calls;
    start += group.length;
  }
  return [];
}

function independentFrom(tasks: Task[], start: number): Task[] {
  const group: Task[] = [];
  const taken: string[] = [];
  for (const task of tasks.slice(start, start + maxTogether)) {
    const paths = pathsOf(task.command)?.map((path) => normalised(path));
    const isApart = paths?.every((path) => !taken.some((other) => overlaps(path, other))) ?? false;
    if (group.length > 0 && !isApart) break;
    group.push(task);
    if (paths === undefined) break;
    taken.push(...paths);
  }
  return group;
}

function normalised(path: string): string {
  return `${path
    .toLowerCase()
    .normalize('NFC')
    .split(/[\\/]+/u)
    .filter((name) => name !== '' && name !== '.')
    .join('/')}/`;
}

function overlaps(path: string, other: string): boolean {
  return path.includes('..') || other.includes('..') || path.startsWith(other) || other.startsWith(path);
}

const doing: Record<string, string> = {
  read: 'read',
  grep: 'search for',
  edit: 'edit',
  write: 'write',
  delete: 'delete',
  move: 'move',
  run: 'run',
};

function announcementOf(calls: ToolCall[]): string {
  const steps = calls.slice(0, 3).map(({ toolName, input }) => {
    return `${doing[toolName] ?? toolName} ${String(input['path'] ?? input['from'] ?? input['pattern'] ?? input['command'])}`;
  });
  return `Now I ${steps.join(', ')}${calls.length > 3 ? ` and ${calls.length - 3} more` : ''}.`;
}

const longestSummary = 15_000;

interface Report {
  title: string;
  summary: string;
  complete: boolean;
}

function reportOf({ tasks, unknown }: Work, transcript: Transcript, hindrance: string): Report {
  const done: string[] = [];
  const begun: string[] = [];
  const lines: string[] = [];
  for (const task of tasks) {
    const move = nextMove(task, transcript);
    const words = describe(task.command);
    if (move.kind === 'done') done.push(words);
    else if (move.kind === 'calls' || move.isPartial === true) begun.push(words);
    if (move.kind === 'calls') lines.push(`- Not done: ${words}: ${hindrance}.`);
    else if (move.kind === 'failed') lines.push(`- Not done: ${words}: ${move.note}`);
    else lines.push(`- Done: ${words}${move.note === '' ? '.' : ` (${move.note})`}`);
  }
  for (const sentence of unknown) lines.push(`- Not understood, so nothing was changed for it: ${cut(sentence, 300)}`);
  if (lines.length === 0) lines.push('There was nothing to do.');
  if (unknown.length > 0 || tasks.length === 0) {
    lines.push(
      '',
      'The offline editor understands these sentences:',
      '',
      ...grammarHelp.map((form) => `- \`${form}\``),
    );
  }
  const complete = done.length === tasks.length && unknown.length === 0;
  return { title: titleOf(done, begun), summary: lines.join('\n').slice(0, longestSummary).toWellFormed(), complete };
}

function titleOf([first, ...others]: string[], [begun]: string[]): string {
  if (first === undefined) return begun === undefined ? 'Nothing done' : `Unfinished: ${cut(begun, 60)}`;
  if (others.length === 0) return cut(first, 72);
  return `${cut(first, 56)} and ${others.length} more`;
}
