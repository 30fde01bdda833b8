import { ApplicationFailure } from '@temporalio/activity';
import type { JobContextStore, NewCompaction } from '../../../db/for-worker/job-context.ts';
import type { JobWithProject } from '../../job/granted-access.ts';
import type { StepRow, StepStore } from '../../../db/for-worker/steps.ts';
import type { PriceBook } from '../../../models/prices.ts';
import { FailureType } from '../../../workflows/contract/failures.ts';
import { emptyLedger, ledgerAfter } from '../ledger.ts';
import { DeclinedAnswerError, isContextOverflow, ModelCallError } from '../model-failures.ts';
import type { AskPaid, HeldStep, PaidCall } from '../spending.ts';
import { stepLines, transcriptText, summaryRules } from './compaction-text.ts';
import type { Transcript } from './transcript.ts';

export interface CompactionDeps {
  context: Pick<JobContextStore, 'compactions' | 'storeCompaction'>;
  steps: Pick<StepStore, 'latestTree'>;
  prices: PriceBook;
  askPaid: AskPaid;
  maskSecrets(text: string): string;
}

export interface CompactionCall {
  step: HeldStep;
  job: JobWithProject;
  transcript: Transcript;
  /** Context window of the model, in tokens. */
  window: number;
  signal: AbortSignal;
}

/** Largest number of consecutive compactions while the job's tree does not change. */
const mostWithoutChange = 3;
/** The newest steps are kept, as many as fit into this share of the context window. */
const tailShare = 0.2;
const mostTailSteps = 10;

/**
 * Creates the function that replaces the older part of a conversation with the model's own notes and a ledger of its
 * tool calls. The result is stored before it is used, so that a later attempt finds it instead of paying for another.
 */
export function createCompaction(deps: CompactionDeps) {
  const { context, steps, prices, askPaid, maskSecrets } = deps;

  return async function compact({ step, job, transcript, window, signal }: CompactionCall): Promise<void> {
    const { compaction: before } = transcript;
    const { fence: _, ...ref } = step;
    const tail = tailOf(transcript.steps, window);
    const replaced = transcript.steps.slice(0, transcript.steps.length - tail);
    const last = replaced.at(-1);
    if (last === undefined || (before?.turn === ref.turn && before.step === ref.step)) throw tooLong();
    const tree = await steps.latestTree(ref.jobId);
    const earlier = await context.compactions(ref.jobId, mostWithoutChange);
    if (earlier.length === mostWithoutChange && earlier.every((one) => one.tree === tree)) throw spiral();

    const question = {
      system: summaryRules,
      messages: [{ role: 'user' as const, content: transcriptText({ ...transcript, steps: replaced }, window) }],
      toolset: {},
      signal,
    };
    const answer = await summarise({ step, job, question }, replaced);
    await context.storeCompaction({
      ...ref,
      uptoTurn: last.turn,
      uptoStep: last.step,
      summary: maskSecrets(answer.summary),
      ledger: ledgerAfter(before?.ledger ?? emptyLedger, replaced),
      tree,
      usage: answer.usage,
      costMicros: answer.costMicros,
    });
  };

  /** If the model cannot summarize, the newest calls are listed instead, so that the job continues. */
  async function summarise(
    call: PaidCall,
    replaced: StepRow[],
  ): Promise<Pick<NewCompaction, 'summary' | 'usage' | 'costMicros'>> {
    const own = `No summary could be written. The last calls were:\n${stepLines(replaced.slice(-20), 200)}`;
    try {
      const { response, details } = await askPaid(call);
      const usage = {
        inputTokens: details.inputTokens,
        cachedTokens: details.cachedInputTokens,
        cacheWriteTokens: details.cacheWriteTokens,
        outputTokens: details.outputTokens,
      };
      const text = response.text.trim();
      return { summary: text === '' ? own : text, usage, costMicros: prices.costMicrosOf(call.job.model, details) };
    } catch (error) {
      const isDeclined = error instanceof ModelCallError && error.cause instanceof DeclinedAnswerError;
      if (!isDeclined && !isContextOverflow(error)) throw error;
      const usage = { inputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
      return { summary: own, usage, costMicros: 0 };
    }
  }
}

/** Returns how many of the newest steps are kept. */
function tailOf(steps: StepRow[], window: number): number {
  let room = window * tailShare * 3.5;
  let count = 0;
  for (const { response, toolResults } of steps.toReversed()) {
    room -= JSON.stringify([response?.content, toolResults]).length;
    if (room < 0 || count === mostTailSteps) break;
    count += 1;
  }
  // at least one step is replaced
  return Math.min(count, Math.max(0, steps.length - 1));
}

/** Returns the failure of a call that has had its compaction, or has nothing to compact. */
function tooLong(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    "The conversation does not fit in the model's context window, even without its older part.",
    FailureType.ModelRefused,
  );
}

function spiral(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `The agent was stopped because it filled its model's context window ${mostWithoutChange + 1} times without changing a file.`,
    FailureType.NoProgress,
  );
}
