import { Client, Connection } from '@temporalio/client';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';

/** The executions of jobs are closed, each the way its job ended. */
export async function checkExecutions(address: string, jobs: { id: string; hasFailed: boolean }[]): Promise<string[]> {
  const connection = await Connection.connect({ address });
  try {
    const { workflow } = new Client({ connection });
    const problems = jobs.map(async ({ id, hasFailed }) => {
      const { status } = await workflow.getHandle(jobWorkflowId(id, 1)).describe();
      return status.name === (hasFailed ? 'FAILED' : 'COMPLETED') ? [] : [`the execution of ${id} is ${status.name}`];
    });
    return (await Promise.all(problems)).flat();
  } finally {
    await connection.close();
  }
}
