import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { NamedImage } from '../../db/jobs/job-images.ts';
import type { WorkerImageStore } from '../../db/for-worker/job-images.ts';
import type { PriceBook } from '../../models/prices.ts';
import type { SealedJob } from '../../db/for-worker/projects/projects.ts';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { ClaimedStep, StepStore, ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import { isPlanning } from '../../db/jobs/jobs.ts';
import type { StepRef, ToolBatch, ToolStep } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import type { Environments } from '../environment/environments.ts';
import { agentEnvironment } from '../environment/prepared-environment.ts';
import { runBatch } from './run-batch.ts';
import type { Toolset } from './agent-tool.ts';
import type { AskForReview } from './self-review.ts';
import { questionOf, withOneQuestion } from './ask-tool.ts';
import { allowedTools, finishCallOf, isDone, type FinishCall } from './toolset.ts';
import { takenOver, type Attempt } from '../attempt.ts';
import { GitError } from '../git/git-error.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import { createToolCaller, type CallToolsDeps } from '../mcp/call-tools.ts';
import type { JobWithProject } from '../job/granted-access.ts';
import { checkedResults } from './check-command.ts';
import type { TakenSnapshot } from '../workspaces/job-snapshot.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { createCommandRunner, overDiskLimit, takenBack, type Commands } from './commands.ts';
import { baseOf, type JobAccess } from '../job/job-access.ts';
import { modelToAsk } from '../model/fallback.ts';
import { eventsOfResults } from '../model/job-events.ts';
import { instructionsOf, type Instructions } from '../model/stored-instructions.ts';
import { createSkillReader, type SkillReaderDeps } from '../model/skills.ts';
import { createPageFetcher, type PageNetwork } from './fetch/fetch-page.ts';
import { openOutputLog, type OutputLog, type OutputLogDeps } from './output-log.ts';
import { createPathRules, problemWithCall, type PathRules } from './path-rules.ts';

export interface RunCallsDeps extends CallToolsDeps, OutputLogDeps, SkillReaderDeps {
  steps: Pick<StepStore, 'storeResults' | 'newestSnapshot'>;
  effects: EffectStore;
  access: Pick<JobAccess, 'activeJobWithRepository' | 'hasMessages'>;
  workspaces: Pick<Workspaces, 'snapshot' | 'remove' | 'readFile'>;
  environments: Pick<Environments, 'open'>;
  toolset: Toolset;
  /** Returns the pinned tools of MCP servers. */
  mcpToolset(pinned: Instructions['tools']): Toolset;
  pages: PageNetwork;
  images: Pick<WorkerImageStore, 'store'>;
  prices: Pick<PriceBook, 'seesImages' | 'windowOf'>;
  commands: Commands;
  askForReview: AskForReview;
  attempt: Attempt;
  redact(text: string): string;
}

interface Batch {
  ref: StepRef;
  job: JobWithProject;
  repository: RepositoryAccess;
  /** The snapshot that the batch starts from; null while nothing has changed. */
  before: Snapshot | null;
  calls: ToolCall[];
  output: OutputLog;
  signal: AbortSignal;
}

interface EndedBatch {
  batch: ToolBatch;
  calls: ToolCall[];
  results: ToolResult[];
}

/** A claimed step, with what the statements of the attempt have returned of its job. The rest is read. */
export interface ClaimedTools extends ClaimedStep {
  job?: SealedJob;
  snapshot?: Snapshot | null;
}

/** Runs the tool calls of a step that an attempt has claimed. */
export type RunCalls = (batch: ToolBatch, claim: () => Promise<ClaimedTools>) => Promise<ToolStep>;

/**
 * Creates the second half of a step. Safe to run twice: each attempt starts with the tree before the batch, and the
 * first stored results win.
 */
export function createRunCalls(deps: RunCallsDeps): RunCalls {
  const { steps, effects, access, workspaces, environments, toolset, mcpToolset, commands } = deps;
  const { pages, images, prices, attempt, askForReview, maskSecrets, redact } = deps;
  return async function runCalls(batch, claim) {
    const { jobId, turn, step } = batch;
    const ref = { jobId, turn, step };
    const scope = { turn: ref, countFailure: () => effects.countFailure({ ...ref, effect: 'tools' }) };
    return attempt(scope, async (signal) => {
      const { fence, response, toolResults, job, snapshot: stored } = await claim();
      if (response === null) throw unanswered();
      const calls = response.toolCalls;
      const endOf = (results: ToolResult[]) => endOfBatch({ batch, calls, results });
      if (toolResults !== null) return { ...(await endOf(toolResults)), changedFiles: 0 };
      const found = await access.activeJobWithRepository(ref, { signal, read: job });
      const before = stored === undefined ? await steps.newestSnapshot(jobId) : stored;
      await using output = openOutputLog(deps, { ...ref, step: { step: ref.step, fence } });
      const { results, tree, snapshot, patch } = await runInWorkspace({
        ref,
        ...found,
        before,
        calls,
        output,
        signal,
      });
      const events = eventsOfResults(results, snapshot, redact);
      if (!(await steps.storeResults({ ...ref, fence, results, tree, snapshot, patch, events }))) throw takenOver();
      return { ...(await endOf(results)), changedFiles: snapshot?.changedFiles ?? 0 };
    });
  };

  async function endOfBatch({ batch, calls, results }: EndedBatch) {
    const finish = finishOf(calls, results);
    const hasQuestion = questionOf({ response: { toolCalls: calls }, toolResults: results }) !== null;
    if (finish === null && !hasQuestion) return { finished: false };
    if (canAct(batch) && (await access.hasMessages(batch))) return { finished: false };
    if (finish === null) return { finished: true };
    if (finish.complete !== false && (await askForReview(batch))) return { finished: false, isReviewing: true };
    return { finished: true, isUnfinished: !isDone(finish, batch.lastBefore != null) };
  }

  async function runInWorkspace(batch: Batch) {
    const { ref, job, repository, before, calls, output, signal } = batch;
    const baseCommit = baseOf(job).commit;
    const { environment } = job;
    const wanted = { ...repository, jobId: job.id, baseCommit, snapshot: before };
    const open = () => environments.open({ ref, job, repository, environment, signal }, wanted);
    let workspace = await open();
    const surroundings = agentEnvironment(environment, workspace.home);
    const maxSeconds = environment.run?.maxSeconds ?? commands?.maxSeconds ?? 0;
    const surrounded = { tree: workspace.path, environment: surroundings, prepared: environment, maxSeconds };
    const commandContext = { jobId: job.id, ...surrounded, signal, watch: output.watch };
    /** Tree that the files are equal to in the end; undefined when that is not certain. */
    let left: { tree: string } | undefined;
    const { runCommand, hasFilledDisk } = createCommandRunner(commands, commandContext);
    try {
      const { project } = job;
      const rules = createPathRules(project);
      const checked = withOneQuestion(calls.map((call) => refusedByRules(call, rules)));
      const { path: root, leftOut, ignoredPaths, newPaths, history } = workspace;
      const callsServer = calls.some(({ toolName }) => toolName.includes('__'));
      const pinned = callsServer ? await pinnedTools(ref) : [];
      await using caller = createToolCaller(deps, { ref, job, signal });
      const readSkill = createSkillReader(deps, { ref, access: repository });
      const showImage = prices.seesImages(job.model) ? (image: NamedImage) => images.store(job.id, image) : undefined;
      const { organizationId } = job;
      const fetchPage = createPageFetcher(pages, { organizationId, hosts: project.fetchHosts, maskSecrets, signal });
      const context = {
        root,
        signal,
        maskSecrets,
        runCommand,
        leftOut,
        ignoredPaths,
        newPaths,
        history,
        readSkill,
        callServer: caller.call,
        fetchPage,
        showImage,
        window: prices.windowOf(modelToAsk(job)),
      };
      const tools = allowedTools({ ...toolset, ...mcpToolset(pinned) }, job);
      const ran = await runBatch(tools, checked, context);
      let masked: ToolResult[] = [];
      for (const result of ran) {
        masked.push({ ...result, output: maskSecrets(result.output) });
        await nextTurn();
      }
      let taken = hasFilledDisk() ? overDiskLimit : await takeTree(batch, workspace.tree);
      if (typeof taken === 'string') {
        masked = takenBack(masked, taken, (name) => toolset[name]?.isReadOnly ?? true);
        await workspace.release();
        await workspaces.remove(job.id);
        workspace = await open();
        taken = await treeAfter(batch, workspace.tree);
      }
      const { tree, snapshot, patch: change } = taken;
      left = { tree };
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
      // its command may write files that are in no snapshot
      left = undefined;
      const check = { command: isPlanning(job) ? null : project.checkCommand, maxSeconds };
      return { results: await checkedResults(effects, { ...finished, ...check }), tree, snapshot, patch };
    } finally {
      await workspace.release(left);
      // a check command may have filled it, too; it is created again when needed
      if (hasFilledDisk()) await workspaces.remove(job.id);
    }
  }

  /** Returns the tools of MCP servers that the turn began with. */
  async function pinnedTools(ref: StepRef): Promise<Instructions['tools']> {
    return instructionsOf(await effects.newest({ ...ref, effect: 'instructions' })).tools;
  }

  /** Returns a call that would write to a forbidden path with the reason as its result. */
  function refusedByRules(call: ToolCall, rules: PathRules): ToolCall {
    if (call.invalid !== undefined || toolset[call.toolName]?.isReadOnly !== false) return call;
    const problem = problemWithCall(rules, call.input);
    return problem === null ? call : { ...call, invalid: problem };
  }

  /** Returns the tree after a batch, or the reason why its changes cannot be stored. */
  async function takeTree(batch: Batch, tree: string): Promise<TakenSnapshot | string> {
    try {
      return await treeAfter(batch, tree);
    } catch (error) {
      if (!(error instanceof GitError) || error.kind !== 'too-large') throw error;
      return `${error.message} Delete generated files, or add them to .gitignore.`;
    }
  }

  async function treeAfter({ job, calls, before, signal }: Batch, tree: string): Promise<TakenSnapshot> {
    const isReadOnly = calls.every(({ toolName }) => toolset[toolName]?.isReadOnly ?? true);
    if (isReadOnly) return { tree, snapshot: null, patch: null };
    const since = { baseCommit: baseOf(job).commit, sinceTree: before?.tree ?? null, signal };
    return workspaces.snapshot(job.id, since);
  }
}

function finishOf(calls: ToolCall[], results: ToolResult[]): FinishCall | null {
  const failed = new Set(results.filter(({ isError }) => isError).map(({ toolCallId }) => toolCallId));
  return finishCallOf(calls.filter((call) => call.invalid === undefined && !failed.has(call.toolCallId)));
}

/** Reports whether the next call can act on a message, so that it need not begin the next turn. */
function canAct({ lastBefore = null, callsLeft = Infinity }: ToolBatch): boolean {
  return lastBefore === null && callsLeft > 2;
}

function unanswered(): ApplicationFailure {
  return ApplicationFailure.nonRetryable("The model's answer is not in the database.", FailureType.Internal);
}
