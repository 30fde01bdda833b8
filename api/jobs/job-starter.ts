import type { Client } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { DueEntry } from '../../db/jobs/outbox.ts';
import type { JobInput, JobLimits } from '../../workflows/contract/job.ts';
import { jobTaskQueue, jobWorkflowId, jobWorkflowName } from '../../workflows/contract/messages.ts';

export type StartJob = (entry: DueEntry) => Promise<void>;

export interface JobStarterDeps {
  client: Client;
  limits: JobLimits;
  taskQueue?: string;
}

/** Timeout of one start, after which it is retried later. */
const startTimeoutMs = 3_000;
/** Time for waiting for a worker, publishing and retries, in addition to the job's own time limit. */
const graceMs = 30 * 60_000;

/** Creates a function that starts a turn's workflow by name. It is idempotent: a turn has only one execution, ever. */
export function createJobStarter({ client, limits, taskQueue = jobTaskQueue }: JobStarterDeps): StartJob {
  return async function startJob({ jobId, turn, organizationId }) {
    const input: JobInput = { jobId, turn, limits };
    try {
      await client.withDeadline(Date.now() + startTimeoutMs, () =>
        client.workflow.start(jobWorkflowName, {
          workflowId: jobWorkflowId(jobId, turn),
          taskQueue,
          args: [input],
          // the queue alternates between organizations, and a worker divides its slots among them
          priority: { fairnessKey: organizationId },
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowRunTimeout: limits.maxDurationMs + graceMs,
          // a killed worker blocks its task for at most this long
          workflowTaskTimeout: '3s',
        }),
      );
    } catch (error) {
      // the workflow has already run and ended
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
}
