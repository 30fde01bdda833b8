import type { Logger } from 'pino';
import type { Forges } from '../../activities/forges/forge.ts';
import type { IdleJobs } from '../../db/for-worker/idle-jobs.ts';
import { repeat } from '../../lib/repeat.ts';

export interface ForgeChoresDeps {
  forges: Pick<Forges, 'revokeEnded'>;
  idleJobs: Pick<IdleJobs, 'endedAmong'>;
  log: Logger;
  everyMs?: number;
}

/**
 * Revokes the forge tokens that were minted for a job when the job has ended, and all of them when this worker stops.
 * Each worker has its own tokens.
 */
export function createForgeChores({ forges, idleJobs, log, everyMs = 10_000 }: ForgeChoresDeps): AsyncDisposable {
  async function revoke(endedOf: (jobIds: string[]) => Promise<string[]>): Promise<void> {
    const { jobs, failed } = await forges.revokeEnded(endedOf);
    if (jobs > 0) log.info({ jobs, failed }, 'revoked forge tokens of ended jobs');
  }

  const revokeEnded = () => revoke((jobIds) => idleJobs.endedAmong(jobIds, { forMs: 0 }));
  const chore = repeat({ name: 'tokens', everyMs, work: revokeEnded, log });
  return {
    async [Symbol.asyncDispose]() {
      await chore[Symbol.asyncDispose]();
      await revoke((jobIds) => Promise.resolve(jobIds));
    },
  };
}
