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
  /** Jobs that changed within this time are skipped. */
  idleMs?: number;
  /** Maximum jobs per round. */
  jobsAtOnce?: number;
}

export interface Watchdog {
  /** Runs one round, which continues where the previous one ended; returns the number of jobs it failed. */
  check(): Promise<number>;
}

/**
 * Fails the jobs whose execution ended without recording it: it exceeded the run timeout, was terminated by hand, or
 * was lost by Temporal. A job whose execution is running is never touched.
 */
export function createWatchdog(deps: WatchdogDeps): Watchdog {
  const { idleJobs, jobs, client, log, idleMs = 3 * 60_000, jobsAtOnce = 50 } = deps;

  /** The last job of the previous round. The next round continues after it, so every idle job is checked. */
  let last = '';

  async function check(): Promise<number> {
    let failed = 0;
    const idle = await idleJobs.list({ idleMs, after: last, limit: jobsAtOnce });
    last = idle.length < jobsAtOnce ? '' : (idle.at(-1)?.jobId ?? '');
    for (const { jobId, turn } of idle) {
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

/** Returns the failure of a job whose execution has this status; null when it is running or the status is unknown. */
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
