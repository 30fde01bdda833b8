import { WorkflowNotFoundError } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import type { StartJob } from './job-starter.ts';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';

const cancelTimeoutMs = 3_000;

/** Cancels the execution of a turn. Repeating it is harmless, and so is one that has ended or never began. */
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
