import type { Logger } from 'pino';
import type { Workspaces } from '../../activities/workspaces/workspaces.ts';
import type { IdleJobs } from '../../db/for-worker/idle-jobs.ts';
import { repeatAll } from '../../lib/repeat.ts';

export interface WorkspaceChoresDeps {
  workspaces: Pick<Workspaces, 'removeEnded' | 'boundMirrors'>;
  idleJobs: Pick<IdleJobs, 'endedAmong'>;
  /** Disk space limit of the repository mirrors. */
  mirrorBytes: number;
  log: Logger;
}

const jobsEveryMs = 30_000;
/** Interval between measurements of the mirrors, which visit every file. */
const mirrorsEveryMs = 10 * 60_000;
/** Time that a working copy is kept after its job has ended, because a follow-up may arrive soon. */
const endedForMs = 2 * 60_000;

/** Deletes the working copies of ended jobs from this machine, and keeps the mirrors within their limit. */
export function createWorkspaceChores({
  workspaces,
  idleJobs,
  mirrorBytes,
  log,
}: WorkspaceChoresDeps): AsyncDisposable {
  async function removeEnded(): Promise<void> {
    const removed = await workspaces.removeEnded((jobIds) => idleJobs.endedAmong(jobIds, { forMs: endedForMs }));
    if (removed > 0) log.info({ removed }, 'removed working copies of ended jobs');
  }

  async function boundMirrors(): Promise<void> {
    const removed = await workspaces.boundMirrors(mirrorBytes);
    if (removed > 0) log.info({ removed }, 'removed mirrors to free space');
  }

  return repeatAll(log, [
    { name: 'working copies', everyMs: jobsEveryMs, work: removeEnded },
    { name: 'mirrors', everyMs: mirrorsEveryMs, work: boundMirrors },
  ]);
}
