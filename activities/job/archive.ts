import type { IdleEndings } from '../../db/for-worker/idle-endings.ts';
import type { Attempt } from '../attempt.ts';

export interface ArchiveActivityDeps {
  endings: Pick<IdleEndings, 'archiveIdle'>;
  attempt: Attempt;
}

const batch = 500;

export function createArchiveActivities({ endings, attempt }: ArchiveActivityDeps) {
  return {
    /** Archives idle jobs and returns how many. Idempotent: an archived job is not archived again. */
    async archiveIdleJobs({ idleDays }: { idleDays: number }): Promise<number> {
      return attempt({ turn: null, countFailure: () => Promise.resolve(1) }, async (signal) => {
        let archived = 0;
        for (;;) {
          signal.throwIfAborted();
          const count = await endings.archiveIdle({ idleDays, limit: batch });
          archived += count;
          if (count < batch) return archived;
        }
      });
    },
  };
}
