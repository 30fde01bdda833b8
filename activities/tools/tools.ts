import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { StepStore, ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import type { StepRef, ToolBatch, ToolStep } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { runBatch } from './run-batch.ts';
import type { Toolset } from './agent-tool.ts';
import { allowedTools, finishCallOf, type FinishCall } from './toolset.ts';
import { takenOver, type Attempt } from '../attempt.ts';
import { checkedResults } from './check-command.ts';
import type { TakenSnapshot } from '../workspaces/job-snapshot.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { createCommandRunner, takenBack, type Commands } from './commands.ts';
import { baseOf, type JobAccess } from '../job/job-access.ts';
import { eventsOfResults } from '../model/job-events.ts';
import { createPathRules, problemWithCall, type PathRules } from './path-rules.ts';

export interface ToolActivityDeps {
  steps: Pick<StepStore, 'claim' | 'storeResults' | 'latestTree' | 'snapshot'>;
  effects: EffectStore;
  access: JobAccess;
  workspaces: Pick<Workspaces, 'open' | 'snapshot' | 'remove'>;
  toolset: Toolset;
  commands: Commands;
  attempt: Attempt;
  maskSecrets(text: string): string;
  redact(text: string): string;
}

interface Batch {
  ref: StepRef;
  job: JobRow;
  calls: ToolCall[];
  signal: AbortSignal;
}

interface EndedBatch {
  ref: StepRef;
  calls: ToolCall[];
  results: ToolResult[];
  /** Whether a limit lets no further call of the model follow. */
  isLast: boolean;
}

export function createToolActivities(deps: ToolActivityDeps) {
  const { steps, effects, access, workspaces, toolset, commands, attempt, maskSecrets, redact } = deps;
  return {
    /** Safe to run twice: each attempt begins with the tree before the batch, and the first stored results win. */
    async runTools({ lastBefore = null, ...ref }: ToolBatch): Promise<ToolStep> {
      return attempt(
        { turn: ref, countFailure: () => effects.countFailure({ ...ref, effect: 'tools' }) },
        async (signal) => {
          const { fence, response, toolResults } = await steps.claim(ref);
          if (response === null) throw unanswered();
          const calls = response.toolCalls;
          const endOf = (results: ToolResult[]) => endOfBatch({ ref, calls, results, isLast: lastBefore !== null });
          if (toolResults !== null) return { ...(await endOf(toolResults)), changedFiles: 0 };
          const job = await access.activeJob(ref);
          const { results, tree, snapshot, patch } = await runInWorkspace({ ref, job, calls, signal });
          const events = await eventsOfResults(results, snapshot, redact);
          if (!(await steps.storeResults({ ...ref, fence, results, tree, snapshot, patch, events }))) throw takenOver();
          return { ...(await endOf(results)), changedFiles: snapshot?.changedFiles ?? 0 };
        },
      );
    },
  };

  async function endOfBatch({ ref, calls, results, isLast }: EndedBatch) {
    const finish = finishOf(calls, results);
    if (finish === null || (await access.hasMessages(ref))) return { finished: false };
    // a limit made it finish: only its own word says that everything is done
    return { finished: true, isUnfinished: isLast ? finish.complete !== true : finish.complete === false };
  }

  async function runInWorkspace(batch: Batch) {
    const { ref, job, calls, signal } = batch;
    const baseCommit = baseOf(job).commit;
    const sinceTree = await steps.latestTree(job.id);
    const before = sinceTree === null ? null : await steps.snapshot(job.id, sinceTree);
    const repository = await access.repositoryOf(job, signal);
    const wanted = { ...repository, jobId: job.id, baseCommit, snapshot: before };
    let workspace = await workspaces.open(wanted);
    const commandContext = { jobId: job.id, tree: workspace.path, signal };
    const { runCommand, hasFilledDisk } = createCommandRunner(commands?.sandbox ?? null, commandContext);
    try {
      const project = await access.projectOf(job);
      const rules = createPathRules(project);
      const checked = calls.map((call) => refusedByRules(call, rules));
      const context = { root: workspace.path, signal, runCommand };
      const ran = await runBatch(allowedTools(toolset, project), checked, context);
      const results = hasFilledDisk() ? takenBack(ran, (name) => toolset[name]?.isReadOnly ?? true) : ran;
      const masked: ToolResult[] = [];
      for (const result of results) {
        masked.push({ ...result, output: maskSecrets(result.output) });
        await nextTurn();
      }
      if (hasFilledDisk()) {
        await workspace.release();
        await workspaces.remove(job.id);
        workspace = await workspaces.open(wanted);
      }
      const { tree, snapshot, patch: change } = await treeAfter(batch, before);
      const patch = change === null ? null : maskSecrets(change);
      if (finishOf(calls, masked) === null) return { results: masked, tree, snapshot, patch };
      const finished = {
        ref,
        job,
        calls,
        results: masked,
        tree,
        snapshot: snapshot ?? before,
        runCommand,
        maskSecrets,
      };
      const check = { command: project.checkCommand, maxSeconds: commands?.maxSeconds ?? 0 };
      return { results: await checkedResults(effects, { ...finished, ...check }), tree, snapshot, patch };
    } finally {
      await workspace.release();
      // a check command can have filled it, too; it is made anew when it is needed
      if (hasFilledDisk()) await workspaces.remove(job.id);
    }
  }

  /** A call that would write where the project lets no job write is answered with the reason. */
  function refusedByRules(call: ToolCall, rules: PathRules): ToolCall {
    if (call.invalid !== undefined || toolset[call.toolName]?.isReadOnly !== false) return call;
    const problem = problemWithCall(rules, call.input);
    return problem === null ? call : { ...call, invalid: problem };
  }

  async function treeAfter({ job, calls, signal }: Batch, before: Snapshot | null): Promise<TakenSnapshot> {
    const isReadOnly = calls.every(({ toolName }) => toolset[toolName]?.isReadOnly ?? true);
    if (isReadOnly && before !== null) return { tree: before.tree, snapshot: null, patch: null };
    const since = { baseCommit: baseOf(job).commit, sinceTree: before?.tree ?? null, signal };
    return workspaces.snapshot(job.id, since);
  }
}

function finishOf(calls: ToolCall[], results: ToolResult[]): FinishCall | null {
  const failed = new Set(results.filter(({ isError }) => isError).map(({ toolCallId }) => toolCallId));
  return finishCallOf(calls.filter((call) => call.invalid === undefined && !failed.has(call.toolCallId)));
}

function unanswered(): ApplicationFailure {
  return ApplicationFailure.nonRetryable("The model's answer is not in the database.", FailureType.Internal);
}
