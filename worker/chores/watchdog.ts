import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';
import type { IdleJobs } from '../../db/for-worker/idle-jobs.ts';

export interface WatchdogDeps {
  idleJobs: IdleJobs;
  jobs: Pick<WorkerJobStore, 'finish'>;
  client: Pick<Client, 'workflow'>;
  log: Logger;
  /** Jobs that changed within this time are left alone. */
  idleMs?: number;
}

export interface Watchdog {
  /** One round; answers how many jobs it failed. */
  check(): Promise<number>;
}

/**
 * Fails the jobs whose execution ended without their knowledge: run timeout passed, terminated by hand, or lost by
 * Temporal. A job whose execution runs is never touched.
 */
export function createWatchdog(deps: WatchdogDeps): Watchdog {
  const { idleJobs, jobs, client, log, idleMs = 3 * 60_000 } = deps;

  async function check(): Promise<number> {
    let failed = 0;
    for (const { jobId, turn } of await idleJobs.list({ idleMs, limit: 50 })) {
      const category = categoryOf(await statusOf(jobWorkflowId(jobId, turn)));
      if (category === null) continue;
      const message = `${failureOf(category).title}.`;
      const finished = await jobs.finish({ jobId, turn, status: 'failed', failureCategory: category, message });
      if (!finished) continue;
      failed += 1;
      log.warn({ jobId, turn, category }, 'job failed because its workflow execution is gone');
    }
    return failed;
  }

  async function statusOf(workflowId: string): Promise<WorkflowExecutionStatusName | null> {
    try {
      const { status } = await client.workflow.getHandle(workflowId).describe();
      return status.name;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }

  return { check };
}

/** What a job fails with whose execution reads so; null: it is alive, or the word is unknown here. */
function categoryOf(status: WorkflowExecutionStatusName | null): FailureType | null {
  switch (status) {
    case 'TIMED_OUT':
      return FailureType.TimeLimit;
    case 'CANCELLED':
      return FailureType.Cancelled;
    case null:
    case 'TERMINATED':
    case 'FAILED':
    case 'COMPLETED':
      return FailureType.Internal;
    default:
      return null;
  }
}
