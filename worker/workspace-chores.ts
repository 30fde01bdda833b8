import type { Logger } from 'pino';
import type { Workspaces } from '../activities/clients/workspaces.ts';
import type { IdleJobs } from '../db/idle-jobs.ts';
import { repeat } from './repeat.ts';

export interface WorkspaceChoresDeps {
  workspaces: Pick<Workspaces, 'tidy'>;
  idleJobs: Pick<IdleJobs, 'endedAmong'>;
  /** What the mirrors of repositories may take on disk. */
  mirrorBytes: number;
  log: Logger;
  everyMs?: number;
  /** How long a working copy outlives its job: a message may follow soon. */
  endedForMs?: number;
}

/** Keeps the disk of this machine free of what jobs that have ended left, and within the bound of its mirrors. */
export function createWorkspaceChores(deps: WorkspaceChoresDeps): AsyncDisposable {
  const { workspaces, idleJobs, mirrorBytes, log, everyMs = 30_000, endedForMs = 2 * 60_000 } = deps;
  const endedAmong = (jobIds: string[]) => idleJobs.endedAmong(jobIds, { forMs: endedForMs });

  async function tidy(): Promise<void> {
    const removed = await workspaces.tidy({ endedAmong, mirrorBytes });
    if (removed.workingCopies > 0 || removed.mirrors > 0) log.info(removed, 'disk tidied');
  }

  return repeat({ name: 'working copies and mirrors', everyMs, work: tidy, log });
}
