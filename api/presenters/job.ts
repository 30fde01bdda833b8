import type { JobRow } from '../../db/jobs.ts';
import { failureOf } from '../../workflows/contract/failures.ts';
import type { AgentJob } from '../job-schemas.ts';

/** The public form of a job, field by field. */
export function presentJob(row: JobRow): AgentJob {
  const isActive = row.status === 'active';
  return {
    id: row.id,
    status: row.status,
    source: { repository: row.repository, ref: row.baseBranch ?? row.requestedRef },
    model: row.model,
    prLink: isActive ? null : row.prLink,
    createdAt: row.createdAt.toISOString(),
    archivedAt: row.archivedAt?.toISOString() ?? null,
    details: {
      phase: isActive ? row.phase : null,
      title: row.title,
      message: row.message,
      steps: row.steps,
      usage: { inputTokens: row.inputTokens, outputTokens: row.outputTokens },
      failure: isActive || row.failureCategory === null ? null : failureOf(row.failureCategory),
      pullRequest: row.prLink === null ? null : { state: row.prState ?? 'open' },
    },
  };
}
