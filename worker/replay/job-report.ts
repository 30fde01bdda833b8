import { BundleFileError } from '../../db/jobs/bundle-file.ts';
import { unpackHistory, type History } from '../../db/jobs/stored-history.ts';
import { failureOf } from '../../workflows/contract/failures.ts';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';
import { stepTimesOf, type ActivityTimes } from './activity-times.ts';
import type { CollectedJob } from './collect-job.ts';
import { filesOfPatch } from './patch-files.ts';
import type { ReplayVerdict } from './replay-history.ts';

/** Report of a step. Durations are in milliseconds, null when unknown. */
export type StepReport = ReturnType<typeof reportStep>;

/** Result of replaying a turn. The verdict is null when there was no history to replay. */
export type TurnReplay =
  | { verdict: ReplayVerdict; runs: number; buildIds: string[] }
  | { verdict: null; reason: string };

export type TurnReport = Awaited<ReturnType<typeof reportTurn>>;
export type JobReport = Awaited<ReturnType<typeof reportJob>>;

/**
 * Builds the report of a job from its records. `prepareBundle` returns the path of the bundle of the current workflow
 * code; null skips the replay. Errors: BundleFileError.
 */
export async function reportJob(job: CollectedJob, prepareBundle: (() => Promise<string>) | null) {
  const turns: TurnReport[] = [];
  // a damaged history fails the report before the bundle is built
  const unpacked = new Map<number, History[]>();
  for (const { turn } of job.turns) unpacked.set(turn, await readRuns(job, turn));
  const bundle = prepareBundle === null ? null : await prepareBundle();
  for (const [turn, runs] of unpacked) turns.push(await reportTurn(job, { turn, runs, bundle }));
  return { job: job.job, turns };
}

async function readRuns(job: CollectedJob, turn: number): Promise<History[]> {
  const kept = job.histories.filter((history) => history.turn === turn);
  try {
    return await Promise.all(kept.map(({ history }) => unpackHistory(Buffer.from(history, 'base64'))));
  } catch (cause) {
    throw new BundleFileError(`The history of turn ${turn} is damaged. Download the bundle again.`, {
      cause,
    });
  }
}

async function reportTurn(
  job: CollectedJob,
  { turn, runs, bundle }: { turn: number; runs: History[]; bundle: string | null },
) {
  const times = stepTimesOf(runs);
  const { prompt, status, createdAt, endedAt } = job.turns.find((one) => one.turn === turn) ?? { ...missingTurn };
  const forked = job.job.forkedFrom;
  return {
    turn,
    prompt,
    status,
    isCopied: forked !== null && turn < forked.turn,
    startedAt: createdAt,
    endedAt,
    replay: await replayTurn(job, { turn, runs, bundle }),
    steps: job.steps.filter((step) => step.turn === turn).map((step) => reportStep(job, step, times.get(step.step))),
    ...endOf(job, turn),
  };
}

const missingTurn = { prompt: '', status: 'active', createdAt: '', endedAt: null };

async function replayTurn(
  job: CollectedJob,
  { turn, runs, bundle }: { turn: number; runs: History[]; bundle: string | null },
): Promise<TurnReplay> {
  const kept = job.histories.filter((history) => history.turn === turn);
  const state = job.exports.find((one) => one.turn === turn);
  if (kept.length === 0 || bundle === null) return { verdict: null, reason: whyNoHistory(job, turn, state?.state) };
  // imported on demand: the replayer is larger than all other code of a report
  const { replayRuns } = await import('./replay-history.ts');
  const verdict = await replayRuns({ bundle, workflowId: jobWorkflowId(job.job.id, turn), runs });
  return { verdict, runs: runs.length, buildIds: [...new Set(kept.flatMap(({ buildIds }) => buildIds))] };
}

function whyNoHistory({ job }: CollectedJob, turn: number, state: string | undefined): string {
  if (job.forkedFrom !== null && turn < job.forkedFrom.turn) return `The turn was copied from ${job.forkedFrom.jobId}.`;
  switch (state) {
    case undefined:
      return 'The turn is running; its history is stored after it ends.';
    case 'waiting':
      return 'The turn has ended, but its history is not stored yet. Try again in a moment.';
    case 'lost':
      return 'Temporal has no history of this turn: it never started, or its history was deleted before it could be stored.';
    case 'removed':
      return 'The history was deleted some time after the job was archived.';
    default:
      return 'The history was not replayed.';
  }
}

function reportStep(job: CollectedJob, record: CollectedJob['steps'][number], times: ActivityTimes[] = []) {
  const { turn, step, response, inputTokens, outputTokens, costMicros } = record;
  const forked = job.job.forkedFrom;
  const isCopied = forked !== null && (turn < forked.turn || (turn === forked.turn && step <= forked.step));
  return {
    turn,
    step,
    /** The step was copied from the job that this one is a fork of. */
    isCopied,
    /** Messages that this step was the first to read. */
    said: job.messages.filter((said) => said.turn === turn && said.step === step).map(({ prompt }) => prompt),
    text: response?.text ?? '',
    toolCalls: response?.toolCalls.map(({ toolCallId, toolName, input }) => ({ toolCallId, toolName, input })) ?? [],
    toolResults: record.toolResults,
    files: filesOfPatch(record.patch ?? ''),
    ...durationsOf(record, times),
    attempts: Math.max(0, ...times.map(({ attempts }) => attempts)),
    /** Failures that led to retries. */
    lastFailures: times.flatMap(({ lastFailure }) => lastFailure ?? []),
    modelFailures: record.modelFailures,
    finishReason: record.finishReason,
    inputTokens,
    outputTokens,
    costMicros,
  };
}

/** `waitingMs` is the time spent on waiting for a worker, and in Temporal. */
function durationsOf({ startedAt, answeredAt, endedAt }: CollectedJob['steps'][number], times: ActivityTimes[]) {
  const between = (from: string | null, to: string | null) =>
    from === null || to === null ? null : Date.parse(to) - Date.parse(from);
  const [modelMs, toolsMs] = [between(startedAt, answeredAt), between(answeredAt, endedAt)];
  const scheduledMs = times[0]?.scheduledMs;
  const endedMs = times.at(-1)?.endedMs ?? null;
  if (scheduledMs === undefined || endedMs === null) return { modelMs, toolsMs, waitingMs: null };
  // the clocks of Temporal and PostgreSQL may differ
  return { modelMs, toolsMs, waitingMs: Math.max(0, endedMs - scheduledMs - (modelMs ?? 0) - (toolsMs ?? 0)) };
}

/** Returns how a turn ended, with the message of that time but the current title and remedy. */
function endOf({ job, events }: CollectedJob, turn: number) {
  const event = events.findLast((one) => one.turn === turn && (one.type === 'failure' || one.type === 'finish'));
  const message = typeof event?.data['message'] === 'string' ? event.data['message'] : null;
  const isNewest = turn === job.turn;
  const category = event?.type === 'failure' ? event.data['category'] : isNewest ? job.failureCategory : null;
  const said = isNewest ? (job.message ?? message) : message;
  if (typeof category !== 'string') return { failure: null, message: said };
  return { failure: { ...failureOf(category), message: said }, message: said };
}
