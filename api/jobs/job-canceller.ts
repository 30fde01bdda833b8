import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { StartJob } from './job-starter.ts';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';

const cancelTimeoutMs = 3_000;

/** Creates a function that cancels a turn's workflow. It is idempotent, even if the workflow ended or never started. */
export function createJobCanceller({ client }: { client: Client }): StartJob {
  return async function cancelJob({ jobId, turn }) {
    try {
      await client.withDeadline(Date.now() + cancelTimeoutMs, () =>
        client.workflow.getHandle(jobWorkflowId(jobId, turn)).cancel(),
      );
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}
