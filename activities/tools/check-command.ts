import { z } from 'zod';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { StepRef, TurnRef } from '../../workflows/contract/job.ts';
import { historyTools } from './history/history-tools.ts';
import { refusalForMarkers } from './conflict-markers.ts';
import { describeEnd } from './run-tool.ts';
import type { ToolContext } from './agent-tool.ts';
import { takenOver } from '../attempt.ts';

/** Result of the check command on a tree. */
export type CheckTry = z.infer<typeof trySchema>;

const trySchema = z.object({
  step: z.number(),
  tree: z.string(),
  command: z.string(),
  passed: z.boolean(),
  text: z.string(),
});
const effect = 'check';

/** How often one turn reports a failed check to the agent before its work is published as a draft. */
export const maxChecks = 3;
/** Longest output in prompts and in the database, in characters. */
const maxTextLength = 12_000;

export interface FinishedBatch {
  ref: StepRef;
  job: JobRow;
  command: string | null;
  calls: ToolCall[];
  results: ToolResult[];
  /** The working copy after the batch, and its newest snapshot; null while it equals the base commit. */
  tree: string;
  snapshot: Snapshot | null;
  maxSeconds: number;
  runCommand: ToolContext['runCommand'];
  maskSecrets(text: string): string;
}

/** Returns the result of the check command on a tree in this turn; null if it was not run. */
export async function readCheck(
  effects: Pick<EffectStore, 'result'>,
  ref: TurnRef,
  { tree, command }: { tree: string; command: string },
): Promise<CheckTry | null> {
  const result = await effects.result({ jobId: ref.jobId, turn: ref.turn, effect });
  return triesOf(result).findLast((one) => one.tree === tree && one.command === command) ?? null;
}

/** Reports whether a working copy has a change of this turn that the check applies to. */
function isChange({ job, tree, snapshot }: Pick<FinishedBatch, 'job' | 'tree' | 'snapshot'>): boolean {
  return snapshot !== null && snapshot.changedFiles > 0 && tree !== job.headTree;
}

/**
 * Returns the results of a batch that ends the work, after running the check command on the working copy. If the check
 * did not pass, or the change has conflict markers, the result of `finish` says so, and the agent continues. Safe to run
 * twice: the result of a step's check is stored.
 */
export async function checkedResults(effects: EffectStore, batch: FinishedBatch): Promise<ToolResult[]> {
  const { ref, command, results, runCommand } = batch;
  const refuse = (output: string) =>
    results.map((one) => (one.toolName === 'finish' ? { ...one, output, isError: true } : one));
  const marked = await refusalForMarkers(effects, ref, batch.snapshot);
  if (marked !== null) return refuse(marked);
  if (command === null || runCommand === undefined || !isChange(batch)) return results;
  const effectKey = { jobId: ref.jobId, turn: ref.turn, effect };
  const { fence, result } = await effects.claim(effectKey);
  const tries = triesOf(result);
  let last = tries.findLast(({ step, tree }) => step === ref.step && tree === batch.tree);
  if (last === undefined) {
    last = await tryCheck(batch, command, tries);
    tries.push(last);
    if (!(await effects.storeResult({ ...effectKey, fence, result: tries }))) throw takenOver();
  }
  const failures = tries.filter(({ passed }) => !passed).length;
  if (last.passed || failures >= maxChecks) return results;
  return refuse(refusal(last, maxChecks - failures));
}

async function tryCheck(batch: FinishedBatch, command: string, tries: CheckTry[]): Promise<CheckTry> {
  const { ref, tree, calls, results, runCommand, maxSeconds, maskSecrets } = batch;
  const passedBefore = tries.find((one) => one.tree === tree && one.command === command && one.passed);
  const one = { step: ref.step, tree, command };
  if (passedBefore !== undefined) return { ...passedBefore, step: ref.step };
  if (hasPassedIn(calls, results, command)) return { ...one, passed: true, text: '[exit code 0]' };
  const toolCallId = calls.find(({ toolName }) => toolName === 'finish')?.toolCallId ?? null;
  const call = { command, timeoutMs: maxSeconds * 1_000, toolCallId, heading: `$ ${command}\n` };
  const end = (await runCommand?.(call)) ?? null;
  if (end === null) return { ...one, passed: false, text: 'There was no time left to run it.' };
  return {
    ...one,
    passed: end.exitCode === 0,
    text: maskSecrets(describeEnd(end, maskSecrets)).slice(0, maxTextLength),
  };
}

/** Reports whether the agent ran the check itself, as the last call of the batch that could change a file. */
function hasPassedIn(calls: ToolCall[], results: ToolResult[], command: string): boolean {
  const last = calls.findLast(({ toolName }) => !readOnlyTools.has(toolName));
  if (last?.toolName !== 'run' || !isCommand(last.input, command)) return false;
  return results.find(({ toolCallId }) => toolCallId === last.toolCallId)?.isError === false;
}

const readOnlyTools = new Set([
  'read',
  'list',
  'glob',
  'grep',
  ...Object.keys(historyTools),
  'skill',
  'fetch',
  'todo',
  'finish',
]);

function isCommand(input: unknown, command: string): boolean {
  return typeof input === 'object' && input !== null && 'command' in input && input.command === command;
}

function refusal({ command, text }: CheckTry, triesLeft: number): string {
  const left = triesLeft === 1 ? 'once more' : `${triesLeft} more times`;
  return (
    `The work is not finished: the project's check command did not pass.\n$ ${command}\n${text}\n` +
    `Fix what it reports, then call finish again; ${left} left.`
  );
}

function triesOf(result: unknown): CheckTry[] {
  return z.array(trySchema).safeParse(result).data ?? [];
}
