import type { Logger } from 'pino';
import type { ClaimedEvaluation, EvaluationRunStore } from '../../db/for-service/evaluation-runs.ts';
import type { EvaluatedConfiguration } from '../../db/sites/evaluations.ts';
import type { SetQuestion } from '../../db/sites/question-sets.ts';
import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import { UnknownModelError } from '../../models/registry.ts';
import { pathsOfExpected } from '../../search/query/finds-expected.ts';
import { askOnce, leaseNewest, type OneAnswer } from '../assistant/ask-once.ts';
import type { Assistant } from '../assistant/assistant.ts';
import type { IndexLease, SiteIndexes } from '../assistant/site-indexes.ts';
import { ApiError } from '../http/errors.ts';
import { checkAnswer } from './check-answer.ts';

export interface EvaluationRunDeps {
  evaluationRuns: EvaluationRunStore;
  sites: Pick<SiteStore, 'findByDomain'>;
  indexes: Pick<SiteIndexes, 'lease'>;
  assistantOf(modelName: string): Assistant;
  log: Logger;
  /** Aborts a run, which another process then continues. */
  stopping: AbortSignal;
}

/** Lease of a claimed evaluation, in seconds. After it expires, another process may continue. */
const claimSeconds = 120;
/** Number of evaluations, each of another organization, that a process carries out at once. */
export const evaluationsAtOnce = 4;
const retrySeconds = 30;
/** Failures in a row after which an evaluation ends. */
const maxFailures = 5;
const maxAnswerLength = 20_000;

const budgetNotice = 'The budget for the answers of the day is spent. The evaluation continues after 00:00 UTC.';
const failureNotice = 'The model did not answer. The question is asked again.';
const indexNotice = 'The site has no index yet. The evaluation waits for it.';

/** A reason to continue an evaluation later. */
class PostponedError extends Error {
  override name = 'PostponedError';
  readonly seconds: number;
  readonly isFailure: boolean;

  constructor(notice: string, { seconds, isFailure }: { seconds: number; isFailure: boolean }) {
    super(notice);
    this.seconds = seconds;
    this.isFailure = isFailure;
  }
}

/** A reason to end an evaluation, for its owner. */
class UnaffordableError extends Error {
  override name = 'UnaffordableError';
}

/**
 * Creates a function that carries out the running evaluations, one question after another. Processes share the work: a
 * result is stored before the next question, and another process continues after the last one of a killed process.
 */
export function createEvaluationRuns(deps: EvaluationRunDeps): () => Promise<void> {
  const { evaluationRuns, stopping, log } = deps;

  async function carryOut(evaluation: ClaimedEvaluation): Promise<void> {
    const { id } = evaluation;
    try {
      if (await askAll(deps, evaluation)) await evaluationRuns.end(id, { state: 'completed', notice: null });
      else await evaluationRuns.postpone(id, { seconds: 0, notice: null, isFailure: false });
    } catch (error) {
      if (error instanceof PostponedError) {
        const { message: notice, seconds, isFailure } = error;
        const failures = await evaluationRuns.postpone(id, { seconds, notice, isFailure });
        if (failures >= maxFailures)
          await evaluationRuns.end(id, { state: 'failed', notice: 'The model failed five times in a row.' });
        return;
      }
      const isExplained =
        error instanceof UnaffordableError || error instanceof ApiError || error instanceof UnknownModelError;
      // otherwise the store or another part is down: the lease expires, and the evaluation continues
      if (isExplained) await evaluationRuns.end(id, { state: 'failed', notice: error.message });
      else log.error({ err: error, evaluation: id }, 'an evaluation was interrupted; continuing later');
    }
  }

  return async () => {
    while (!stopping.aborted) {
      const evaluation = await evaluationRuns.claim({ seconds: claimSeconds });
      if (evaluation === null) return;
      await carryOut(evaluation);
    }
  };
}

/** Asks what has no result yet. Returns false when the evaluation was stopped, or this process is stopping. */
async function askAll(deps: EvaluationRunDeps, evaluation: ClaimedEvaluation): Promise<boolean> {
  const { id, questions, configurations } = evaluation;
  const isDone = new Set(evaluation.done.map(({ position, side }) => `${position} ${side}`));
  const site = await deps.sites.findByDomain(evaluation, evaluation.domain);
  if (site === null) return false;
  const assistants = configurations.map(({ model }) => deps.assistantOf(model));
  const lease = await leaseNewest(deps.indexes, site);
  if (lease === null) throw new PostponedError(indexNotice, { seconds: retrySeconds, isFailure: false });
  try {
    for (const [position, question] of questions.entries()) {
      for (const [side, configuration] of configurations.entries()) {
        const assistant = assistants[side];
        if (assistant === undefined || isDone.has(`${position} ${side}`)) continue;
        const startedAt = performance.now();
        const answer = await ask(deps, { site, lease, assistant, question, configuration });
        if (answer === null) return false;
        const result = {
          position,
          side,
          answer: answer.text.slice(0, maxAnswerLength),
          cited: answer.cited,
          found: answer.found,
          searchQuery: answer.searchQuery,
          answered: answer.isAnswered,
          ...checkAnswer(question, answer, pathsOfExpected(lease.index, { ...question, baseUrl: site.baseUrl })),
          costMicros: answer.costMicros,
          durationMs: Math.round(performance.now() - startedAt),
          indexVersion: lease.version,
        };
        if (!(await deps.evaluationRuns.record(id, result, { seconds: claimSeconds }))) return false;
      }
    }
    return true;
  } finally {
    lease.release();
  }
}

interface Asked {
  site: SiteRow;
  lease: IndexLease;
  assistant: Assistant;
  question: SetQuestion;
  configuration: EvaluatedConfiguration;
}

/** Asks one question. Null when this process is stopping. Throws PostponedError and UnaffordableError. */
async function ask(
  { stopping }: EvaluationRunDeps,
  { site, lease, assistant, question, configuration }: Asked,
): Promise<OneAnswer | null> {
  const { model, instructions, retrievalPageSize, queryRewriting = null } = configuration;
  const asked = {
    assistant,
    site: { ...site, instructions, queryRewriting },
    index: lease.index,
    history: question.history,
    question: question.text,
    retrievalPageSize,
    stopping,
  };
  try {
    const answer = await askOnce(asked);
    if (stopping.aborted) return null;
    if (answer === null) throw new PostponedError(failureNotice, { seconds: retrySeconds, isFailure: true });
    if (answer.exceedsBudget) throw new UnaffordableError(unaffordable(model));
    // over the site's budget, another model answers: its answer says nothing about this configuration
    if (answer.modelName !== model) throw spent();
    return answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 429) throw error;
    throw new PostponedError(error.message, { seconds: Number(error.headers['Retry-After']), isFailure: false });
  }
}

function unaffordable(model: string): string {
  return `One call of ${model} may cost more than the site's daily budget for answers. Raise the budget and start another evaluation.`;
}

function spent(): PostponedError {
  const seconds = Math.ceil((86_400_000 - (Date.now() % 86_400_000)) / 1_000) + 1;
  return new PostponedError(budgetNotice, { seconds, isFailure: false });
}
