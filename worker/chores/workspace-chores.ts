import type { Logger } from 'pino';
import type { Workspaces } from '../../activities/workspaces/workspaces.ts';
import type { IdleJobs } from '../../db/for-worker/idle-jobs.ts';
import { repeat } from '../../lib/repeat.ts';

export interface WorkspaceChoresDeps {
  workspaces: Pick<Workspaces, 'removeEnded' | 'boundMirrors'>;
  idleJobs: Pick<IdleJobs, 'endedAmong'>;
  /** What the mirrors of repositories may take on disk. */
  mirrorBytes: number;
  log: Logger;
  jobsEveryMs?: number;
  /** Their size is that of all their files: a look takes time. */
  mirrorsEveryMs?: number;
  /** How long a working copy outlives its job: a message may follow soon. */
  endedForMs?: number;
}

/** Keeps the disk of this machine free of what jobs that have ended left, and within the bound of its mirrors. */
export function createWorkspaceChores(deps: WorkspaceChoresDeps): AsyncDisposable {
  const { workspaces, idleJobs, mirrorBytes, log } = deps;
  const { jobsEveryMs = 30_000, mirrorsEveryMs = 10 * 60_000, endedForMs = 2 * 60_000 } = deps;

  async function removeEnded(): Promise<void> {
    const removed = await workspaces.removeEnded((jobIds) => idleJobs.endedAmong(jobIds, { forMs: endedForMs }));
    if (removed > 0) log.info({ removed }, 'removed working copies of ended jobs');
  }

  async function boundMirrors(): Promise<void> {
    const removed = await workspaces.boundMirrors(mirrorBytes);
    if (removed > 0) log.info({ removed }, 'removed mirrors to free space');
  }

  const chores = [
    repeat({ name: 'working copies', everyMs: jobsEveryMs, work: removeEnded, log }),
    repeat({ name: 'mirrors', everyMs: mirrorsEveryMs, work: boundMirrors, log }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(chores.map((chore) => chore[Symbol.asyncDispose]()));
    },
  };
}
