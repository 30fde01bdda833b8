import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { DueEntry } from '../../db/jobs/outbox.ts';
import type { JobInput, JobLimits } from '../../workflows/contract/job.ts';
import { jobTaskQueue, jobWorkflowId, jobWorkflowName } from '../../workflows/contract/messages.ts';

export type StartJob = (entry: DueEntry) => Promise<void>;

export interface JobStarterDeps {
  client: Client;
  limits: JobLimits;
  taskQueue?: string;
}

/** How long one start may take before it is given up and tried again later. */
const startTimeoutMs = 3_000;
/** Waiting for a worker, publishing and retries come on top of the job's own time limit. */
const graceMs = 30 * 60_000;

/** Starts the workflow of a turn, by name. Repeating it is harmless: a turn has one execution, ever. */
export function createJobStarter({ client, limits, taskQueue = jobTaskQueue }: JobStarterDeps): StartJob {
  return async function startJob({ jobId, turn, organizationId }) {
    const input: JobInput = { jobId, turn, limits };
    try {
      await client.withDeadline(Date.now() + startTimeoutMs, () =>
        client.workflow.start(jobWorkflowName, {
          workflowId: jobWorkflowId(jobId, turn),
          taskQueue,
          args: [input],
          // the queue takes turns between organizations, and a worker divides its slots by them
          priority: { fairnessKey: organizationId },
          workflowIdConflictPolicy: 'USE_EXISTING',
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          workflowRunTimeout: limits.maxDurationMs + graceMs,
          // a worker that was killed holds its task no longer than this
          workflowTaskTimeout: '3s',
        }),
      );
    } catch (error) {
      // it ran and has ended already
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  };
}
