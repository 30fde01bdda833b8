import type { ModelMessage } from 'ai';
import { systemPrompt } from '../../activities/model/agent-prompt.ts';
import { createRunTool } from '../../activities/tools/run-tool.ts';
import { createToolset } from '../../activities/tools/toolset.ts';
import { requestHashOf } from '../../activities/model/ask-model.ts';
import { instructionsOf } from '../../activities/model/instructions.ts';
import { conversationOf, transcriptAt } from '../../activities/model/transcript.ts';
import type { Prompt } from '../../db/for-worker/jobs.ts';
import type { StepRow } from '../../db/for-worker/steps.ts';
import type { CollectedJob } from './collect-job.ts';

/** What a step asked its model, put together again by the code that asked it. */
export interface ExactQuestion {
  model: string;
  system: string;
  messages: ModelMessage[];
  /** Names of the tools that were offered. */
  tools: string[];
  /**
   * Whether its hash is the one that was stored with the answer: `exact`; `different` when the code that puts questions together
   * has changed since; `unknown` for a step without an answer.
   */
  match: 'exact' | 'different' | 'unknown';
}

/** The question of a step, from what is stored of the job. */
export function exactQuestionOf(job: CollectedJob, { turn, step }: { turn: number; step: number }): ExactQuestion {
  const model = job.job.model;
  const system = systemPrompt(guidanceOf(job));
  const { notes, compactions } = job;
  const steps = job.steps.map((record) => rowOf(job.job.id, record));
  const messages = conversationOf(transcriptAt({ prompts: promptsOf(job), steps, notes, compactions }, { turn, step }));
  const stored = job.steps.find((at) => at.turn === turn && at.step === step)?.requestHash ?? null;
  const run = createRunTool({ maxSeconds: 1 });
  // the last call that a limit allows can only finish
  const offered = [Object.keys(createToolset()), Object.keys(createToolset({ run })), ['finish']];
  const offeredTools = offered.find((tools) => requestHashOf({ model, system, messages, tools }) === stored);
  const question = { model, system, messages, tools: offeredTools ?? Object.keys(createToolset()) };
  if (stored === null) return { ...question, match: 'unknown' };
  return { ...question, match: offeredTools === undefined ? 'different' : 'exact' };
}

function guidanceOf({ effects }: CollectedJob): string | null {
  const stored = effects.find(({ turn, effect }) => turn === 1 && effect === 'instructions');
  return instructionsOf(stored?.result).text;
}

/** What people said to the job, in order. */
function promptsOf({ turns, messages }: CollectedJob): Prompt[] {
  const said = [...turns.map(({ turn, prompt }) => ({ turn, position: 0, step: 0, prompt })), ...messages];
  said.sort((left, right) => left.turn - right.turn || left.position - right.position);
  return said.map(({ turn, step, prompt }) => ({ turn, step, prompt }));
}

function rowOf(jobId: string, record: CollectedJob['steps'][number]): StepRow {
  const { inputTokens, outputTokens } = record;
  return { ...record, jobId, usage: { inputTokens, outputTokens } };
}
