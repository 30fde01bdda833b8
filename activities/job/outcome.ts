import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import type { EndedTurn } from '../../workflows/contract/job.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import type { Attempt } from '../attempt.ts';
import { notAsked } from '../tools/ask-tool.ts';
import { waitOf, type Wait } from './waiting.ts';

export interface OutcomeActivityDeps {
  jobs: Pick<WorkerJobStore, 'finish' | 'get' | 'refuseQuestion' | 'setPhase' | 'wait'>;
  steps: Pick<StepStore, 'lastAnswered'>;
  /** Days after which a job that waits for a person fails. */
  waitDays: number;
  attempt: Attempt;
  secrets: Pick<KnownSecrets, 'learn' | 'redact'>;
}

export function createOutcomeActivities({ jobs, steps, attempt, waitDays, secrets }: OutcomeActivityDeps) {
  const { redact } = secrets;

  /** Ends a turn that was not stopped; false while a message lets it continue, or when it has ended. */
  async function endTurn({ jobId, turn, step, outcome, isOver = false }: EndedTurn): Promise<boolean> {
    const ref = { jobId, turn, step };
    if (outcome.kind === 'waiting') {
      const job = await readWithSecrets(jobId);
      const wait = job === null ? null : waitOf(job, await steps.lastAnswered(ref));
      const isWaiting = wait !== null && (await jobs.wait({ ...ref, ...redacted(wait), days: waitDays }));
      if (isWaiting || !isOver) return isWaiting;
      if (wait?.question != null) await jobs.refuseQuestion({ ...ref, reason: notAsked });
    }
    return jobs.finish({ ...ref, status: 'completed', failureCategory: null, leavesMessages: isOver });
  }

  /** Returns the job; from then on, texts are redacted with the secrets of its project. */
  async function readWithSecrets(jobId: string): Promise<JobRow | null> {
    const job = await jobs.get(jobId);
    if (job !== null) secrets.learn(job.projectId, []);
    return job;
  }

  function redacted({ title, plan, question }: Wait): Wait {
    return {
      title: title === null ? null : redact(title),
      plan: plan === null ? null : redact(plan),
      question: question && { text: redact(question.text), choices: question.choices.map(redact) },
    };
  }

  return {
    /**
     * Records the outcome of a turn. Idempotent: a turn ends once, and later outcomes change nothing; nor does one whose
     * turn has already continued. Returns whether the turn continues instead, because a message arrived.
     */
    async recordOutcome({ jobId, turn, outcome, step, isOver }: EndedTurn): Promise<boolean> {
      // failures are not counted: a job whose end cannot be written would stay active forever
      return attempt({ turn: null, countFailure: () => Promise.resolve(1) }, async () => {
        if (outcome.kind === 'failed') {
          await readWithSecrets(jobId);
          const { category, message } = outcome;
          await jobs.finish({ jobId, turn, status: 'failed', failureCategory: category, message: redact(message) });
          return false;
        }
        if (await endTurn({ jobId, turn, step, outcome, isOver })) return false;
        const job = await jobs.get(jobId);
        if (job?.status !== 'active' || job.turn !== turn || job.phase === 'waiting') return false;
        await jobs.setPhase({ jobId, turn, phase: 'running' });
        return true;
      });
    },
  };
}
