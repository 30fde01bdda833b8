import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { JobOutcome, WorkedTurn } from '../../workflows/contract/job.ts';
import type { Attempt } from '../attempt.ts';

export interface OutcomeActivityDeps {
  jobs: Pick<WorkerJobStore, 'finish' | 'get' | 'setPhase'>;
  attempt: Attempt;
  redact(text: string): string;
}

export function createOutcomeActivities({ jobs, attempt, redact }: OutcomeActivityDeps) {
  return {
    /**
     * Records the outcome of a turn. Idempotent: a turn ends once, and later outcomes change nothing; nor does one whose
     * turn has already continued. Returns whether the turn continues instead, because a message arrived.
     */
    async recordOutcome({ jobId, turn, outcome, step }: WorkedTurn & { outcome: JobOutcome }): Promise<boolean> {
      // failures are not counted: a job whose end cannot be written would stay active forever
      return attempt({ turn: null, countFailure: () => Promise.resolve(1) }, async () => {
        if (outcome.kind === 'failed') {
          const { category, message } = outcome;
          await jobs.finish({ jobId, turn, status: 'failed', failureCategory: category, message: redact(message) });
          return false;
        }
        if (await jobs.finish({ jobId, turn, step, status: 'completed', failureCategory: null })) return false;
        const job = await jobs.get(jobId);
        if (job?.status !== 'active' || job.turn !== turn) return false;
        await jobs.setPhase({ jobId, turn, phase: 'running' });
        return true;
      });
    },
  };
}
