import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { createOfflineModel, wordsOf, type AnswerPart } from '../offline-model.ts';
import { nextMove, type ToolCall } from './edits.ts';
import { describe, grammarHelp, parsePrompt } from './grammar.ts';
import { cut } from './literals.ts';
import { readTranscript, type Transcript } from './transcript.ts';

/** Creates a language model that makes the literal edits its small grammar understands, with the agent's own tools. */
export function createOfflineEditor(): LanguageModelV4 {
  return createOfflineModel({ modelId: 'editor', answer });
}

function* answer({ prompt, tools, toolChoice }: LanguageModelV4CallOptions): Generator<AnswerPart> {
  const available = new Set(toolChoice?.type === 'none' ? [] : tools?.map((tool) => tool.name));
  const transcript = readTranscript(prompt);
  const work = workOf(transcript);
  // commands are carried out one after another
  const calls = work.tasks.find((task) => task.calls.length > 0)?.calls ?? [];
  if (calls.length > 0 && calls.every((call) => available.has(call.toolName))) {
    yield* wordsOf(announcementOf(calls));
    for (const call of calls) yield { type: 'call', ...call };
    return;
  }
  const isLastCall = available.size === 1 && available.has('finish');
  const report = reportOf(
    work,
    isLastCall ? 'the turn reached a limit before it.' : 'the tools it needs are not available.',
  );
  if (available.has('finish') && transcript.requests.length > 0)
    yield { type: 'call', id: `finish${transcript.calls}`, toolName: 'finish', input: report };
  else yield* wordsOf(report.summary);
}

function workOf(transcript: Transcript) {
  const sentences = transcript.requests.flatMap(({ id, text }) =>
    parsePrompt(text).map((sentence, index) => ({ ...sentence, id: `u${id}_s${index + 1}` })),
  );
  return {
    tasks: sentences.flatMap(({ id, commands }) =>
      (commands ?? []).map((command, index) => {
        const move = nextMove({ id: `${id}_c${index + 1}`, command }, transcript);
        return { words: describe(command), ...move };
      }),
    ),
    unknown: sentences.flatMap(({ text, commands }) => (commands === null ? [text] : [])),
  };
}

function announcementOf(calls: ToolCall[]): string {
  const steps = calls.slice(0, 3).map(({ toolName, input: { path, from, pattern, command } }) => {
    return `${toolName === 'grep' ? 'search for' : toolName} ${String(path ?? from ?? pattern ?? command)}`;
  });
  return `Now I ${steps.join(', ')}${calls.length > 3 ? ` and ${calls.length - 3} more` : ''}.`;
}

const maxSummaryLength = 15_000;

function reportOf({ tasks, unknown }: ReturnType<typeof workOf>, hindrance: string) {
  const lines = tasks.map(({ words, isDone, calls, note }) => {
    if (!isDone) return `- Not done: ${words}: ${calls.length > 0 ? hindrance : note}`;
    return `- Done: ${words}${note === '' ? '.' : ` (${note})`}`;
  });
  lines.push(...unknown.map((sentence) => `- Not understood, so nothing was changed for it: ${cut(sentence, 300)}`));
  if (lines.length === 0) lines.push('There was nothing to do.');
  if (unknown.length > 0 || tasks.length === 0) {
    const forms = grammarHelp.map((form) => `- \`${form}\``);
    lines.push('', 'The offline editor understands these sentences:', '', ...forms);
  }
  const done = tasks.filter(({ isDone }) => isDone).map(({ words }) => words);
  const begun = tasks.find(({ isDone, isBegun }) => isBegun && !isDone);
  const complete = done.length === tasks.length && unknown.length === 0;
  const summary = lines.join('\n').slice(0, maxSummaryLength).toWellFormed();
  return { title: titleOf(done, begun?.words), summary, complete };
}

function titleOf([first, ...others]: string[], begun: string | undefined): string {
  if (first === undefined) return begun === undefined ? 'Nothing done' : `Unfinished: ${cut(begun, 60)}`;
  return others.length === 0 ? cut(first, 72) : `${cut(first, 56)} and ${others.length} more`;
}
