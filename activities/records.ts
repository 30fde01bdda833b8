import type { JobStore } from '../db/jobs.ts';
import type { JobOutcome, TurnRef } from '../workflows/contract/job.ts';
import type { Attempt } from './attempt.ts';

export interface RecordActivityDeps {
  jobs: Pick<JobStore, 'finish'>;
  attempt: Attempt;
  redact(text: string): string;
}

export function createRecordActivities({ jobs, attempt, redact }: RecordActivityDeps) {
  return {
    /** Safe to run twice: a turn ends once, whatever comes later changes nothing. */
    async recordOutcome({ jobId, turn, outcome }: TurnRef & { outcome: JobOutcome }): Promise<void> {
      // uncounted: a job whose end cannot be written would stay active for ever
      await attempt({ countFailure: () => Promise.resolve(1) }, async () => {
        if (outcome.kind === 'failed') {
          const { category, message } = outcome;
          await jobs.finish({ jobId, turn, status: 'failed', failureCategory: category, message: redact(message) });
          return;
        }
        await jobs.finish({ jobId, turn, status: 'completed', failureCategory: null });
      });
    },
  };
}
