import type { ListedJobRow } from '../../db/jobs/job-lists.ts';
import { presentJob } from '../../db/jobs/agent-job.ts';
import { presentActor } from '../administration/actor.ts';
import type { ListedJob } from './job-list-schemas.ts';

/** Returns the form of a job used in lists. */
export function presentListedJob(row: ListedJobRow): ListedJob {
  return {
    ...presentJob(row),
    projectId: row.projectId,
    prompt: row.prompt,
    branch: row.branch,
    turn: row.turn,
    changedFiles: row.change?.files ?? null,
    additions: row.change?.additions ?? null,
    deletions: row.change?.deletions ?? null,
    startedBy: presentActor(row.startedBy),
    updatedAt: row.updatedAt.toISOString(),
    activeSince: row.activeSince?.toISOString() ?? null,
    endedAt: row.status === 'active' ? null : (row.endedAt?.toISOString() ?? null),
  };
}
