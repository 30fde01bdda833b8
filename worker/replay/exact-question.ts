import type { ModelMessage } from 'ai';
import { systemPrompt } from '../../activities/model/agent-prompt.ts';
import { createMcpToolset } from '../../activities/mcp/mcp-toolset.ts';
import { createRunTool } from '../../activities/tools/run-tool.ts';
import { historyTools } from '../../activities/tools/history/history-tools.ts';
import { plainEnvironment } from '../../activities/environment/prepared-environment.ts';
import { createToolset, offeredTools } from '../../activities/tools/toolset.ts';
import { requestHashOf } from '../../activities/model/ask-model.ts';
import { instructionsOf, type Instructions } from '../../activities/model/stored-instructions.ts';
import { maskInChunks, maskInTens } from '../../activities/model/transcript/masking.ts';
import { conversationOf, transcriptAt } from '../../activities/model/transcript/transcript.ts';
import type { Prompt } from '../../db/for-worker/jobs.ts';
import type { StepRow } from '../../db/for-worker/steps.ts';
import type { ToolDefinition } from '../../db/jobs/bundle-schema.ts';
import type { CollectedJob } from './collect-job.ts';

/** A step's request to its model, rebuilt with the current code. */
export interface ExactQuestion {
  model: string;
  system: string;
  messages: ModelMessage[];
  /** Names of the offered tools. */
  tools: string[];
  /** The offered tools as they were sent. For steps of earlier versions, only those of MCP servers are known. */
  toolDefinitions: ToolDefinition[];
  /**
   * `exact` when its hash equals the one stored with the answer, `different` when the code that builds requests has
   * changed since, `unknown` for a step without an answer.
   */
  match: 'exact' | 'different' | 'unknown';
}

/** Rebuilds the request of a step from the stored job. */
export function exactQuestionOf(job: CollectedJob, { turn, step }: { turn: number; step: number }): ExactQuestion {
  const instructions = instructionsAt(job, turn);
  const system = systemPrompt(instructions);
  const { notes, compactions } = job;
  const steps = job.steps.map((record) => rowOf(job.job.id, record));
  const transcript = transcriptAt({ prompts: promptsOf(job), steps, notes, compactions }, { turn, step });
  const asked = job.steps.find((at) => at.turn === turn && at.step === step);
  const stored = asked?.requestHash ?? null;
  const model = asked?.model ?? job.job.model;
  const sentTools = job.tools.find(({ hash }) => hash === asked?.toolsHash)?.definitions;
  const offered = sentTools === undefined ? likelyTools(instructions) : [sentTools.map(({ name }) => name)];
  const candidates = [maskInChunks, maskInTens].flatMap((maskedSteps) => {
    const messages = conversationOf(transcript, { model, maskedSteps });
    return offered.map((tools) => ({ model, system, messages, tools }));
  });
  const sent = candidates.find((candidate) => requestHashOf(candidate) === stored);
  const rebuilt = sent ?? { model, system, messages: conversationOf(transcript, { model }), tools: offered[0] ?? [] };
  const toolDefinitions = sentTools ?? pinnedDefinitions(instructions, rebuilt.tools);
  const question = { ...rebuilt, toolDefinitions };
  if (stored === null) return { ...question, match: 'unknown' };
  return { ...question, match: sent === undefined ? 'different' : 'exact' };
}

/** Returns the tools that a step of an earlier version may have been offered. */
function likelyTools(instructions: Instructions): string[][] {
  const whole = [false, true].flatMap((mayRun) => toolsOf(mayRun, instructions));
  // still earlier versions offered no history, and the last call before a limit offers only `finish`
  const earlier = whole.map((names) => names.filter((name) => !Object.hasOwn(historyTools, name)));
  return [...whole, ...earlier, ['finish']];
}

function pinnedDefinitions({ tools }: Instructions, offered: string[]): ToolDefinition[] {
  return tools
    .filter(({ name }) => offered.includes(name))
    .map(({ name, description, inputSchema }) => ({ name, description, inputSchema: { ...inputSchema } }));
}

/** Returns the tools that a step may have been offered, by what its job may do. */
function toolsOf(mayRun: boolean, instructions: Instructions): string[][] {
  const own = createToolset({ run: createRunTool({ maxSeconds: 1 }) });
  const toolset = { ...own, ...createMcpToolset()(instructions.tools) };
  const job = { approvedTurn: null, project: { mayRun }, environment: plainEnvironment };
  return [false, true].flatMap((mayAsk) =>
    [false, true].map((planReview) => Object.keys(offeredTools(toolset, { ...job, mayAsk, planReview }, instructions))),
  );
}

/** Returns the instructions of the newest turn that stored some, up to and including a turn. */
function instructionsAt({ effects }: CollectedJob, turn: number): Instructions {
  const stored = effects
    .filter((one) => one.effect === 'instructions' && one.turn <= turn && one.result !== null)
    .toSorted((a, b) => b.turn - a.turn);
  return instructionsOf(stored[0]?.result);
}

/** Returns the prompts and messages sent to the job, in order. */
function promptsOf({ turns, messages }: CollectedJob): Prompt[] {
  const prompts = [
    ...turns.map(({ turn, prompt, images }) => ({ turn, position: 0, step: 0, prompt, images })),
    ...messages,
  ];
  prompts.sort((left, right) => left.turn - right.turn || left.position - right.position);
  return prompts.map(({ turn, step, prompt, images }) => ({ turn, step, prompt, images }));
}

function rowOf(jobId: string, record: CollectedJob['steps'][number]): StepRow {
  const { inputTokens, outputTokens } = record;
  return { ...record, jobId, usage: { inputTokens, outputTokens } };
}
