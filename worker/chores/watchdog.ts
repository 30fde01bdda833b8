import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';
import { allOf } from '../../lib/all-of.ts';
import type { IdleJobs } from '../../db/for-worker/idle-jobs.ts';

export interface WatchdogDeps {
  idleJobs: IdleJobs;
  jobs: Pick<WorkerJobStore, 'finish'>;
  client: Pick<Client, 'workflow'>;
  log: Logger;
  /** Jobs that changed within this time are skipped. */
  idleMs?: number;
  /** Jobs that are checked at the same time. */
  jobsAtOnce?: number;
}

const goOn = 'A follow-up message continues from the last stored step.';
const executionLost = `The turn's execution in Temporal is gone, for example after a restore of a backup. ${goOn}`;
/** The run may take longer than the limits of the turn: only the lack of a worker, or of its database, uses up that time. */
const runTimedOut = `The turn's run in Temporal timed out before a worker could end it. Check that workers run and reach the database. ${goOn}`;

/**
 * Fails the jobs whose execution ended without recording it: it exceeded the run timeout, was terminated by hand, or
 * was lost by Temporal. A job whose execution is running is never touched.
 */
export function createWatchdog(deps: WatchdogDeps) {
  const { idleJobs, jobs, client, log, idleMs = 3 * 60_000, jobsAtOnce = 100 } = deps;

  /** The last job that was checked; empty at the end. */
  let last = '';

  /** Checks every idle job; after an error, the next round continues where this one ended. Returns how many it failed. */
  async function check(): Promise<number> {
    let failed = 0;
    do {
      const idle = await idleJobs.list({ idleMs, after: last, limit: jobsAtOnce });
      last = idle.length < jobsAtOnce ? '' : (idle.at(-1)?.jobId ?? '');
      failed += (await allOf(idle.map(checkOne))).filter(Boolean).length;
    } while (last !== '');
    return failed;
  }

  async function checkOne({ jobId, turn }: TurnRef): Promise<boolean> {
    const failure = failureWith(await statusOf(jobWorkflowId(jobId, turn)));
    if (failure === null) return false;
    const { category, message } = failure;
    const finished = await jobs.finish({ jobId, turn, status: 'failed', failureCategory: category, message });
    if (finished) log.warn({ jobId, turn, category, message }, 'job failed because its workflow execution is gone');
    return finished;
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
function failureWith(status: WorkflowExecutionStatusName | null): { category: FailureType; message: string } | null {
  switch (status) {
    case 'TIMED_OUT':
      return { category: FailureType.Internal, message: runTimedOut };
    case 'CANCELLED':
      return { category: FailureType.Cancelled, message: `${failureOf(FailureType.Cancelled).title}.` };
    case null:
    case 'TERMINATED':
    case 'FAILED':
    case 'COMPLETED':
      return { category: FailureType.Internal, message: executionLost };
    default:
      return null;
  }
}
