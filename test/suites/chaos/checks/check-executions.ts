import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';
import { jobWorkflowId } from '../../../../workflows/contract/messages.ts';

export interface TemporalNamespace {
  temporalAddress: string;
  namespace?: string;
}

export interface EndedTurn {
  id: string;
  turn: number;
  hasFailed: boolean;
}

/**
 * A job has ended once its end is stored. Its execution closes soon afterwards, or after a retry if its worker was
 * killed.
 */
const closedWithinMs = 90_000;
const pollMs = 200;

/** Checks that the executions of jobs close, each with the status that matches its job. */
export async function checkExecutions(temporal: TemporalNamespace, jobs: EndedTurn[]): Promise<string[]> {
  const connection = await Connection.connect({ address: temporal.temporalAddress });
  try {
    const { workflow } = new Client({ connection, namespace: temporal.namespace });
    const problems = jobs.map(async ({ id, turn, hasFailed }) => {
      const { status } = await closed(workflow.getHandle(jobWorkflowId(id, turn)));
      const wanted = hasFailed ? 'FAILED' : 'COMPLETED';
      return status.name === wanted ? [] : [`the execution of turn ${turn} of ${id} is ${status.name}`];
    });
    return (await Promise.all(problems)).flat();
  } finally {
    await connection.close();
  }
}

async function closed(handle: WorkflowHandle): Promise<WorkflowExecutionDescription> {
  const untilMs = Date.now() + closedWithinMs;
  for (;;) {
    const described = await handle.describe();
    if (described.status.name !== 'RUNNING' || Date.now() > untilMs) return described;
    await delay(pollMs);
  }
}
