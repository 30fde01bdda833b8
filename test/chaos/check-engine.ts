import { Client, Connection } from '@temporalio/client';
import { jobWorkflowId } from '../../workflows/contract/messages.ts';

export interface Engine {
  temporalAddress: string;
  namespace?: string;
}

export interface EndedTurn {
  id: string;
  turn: number;
  hasFailed: boolean;
}

/** The executions of jobs are closed, each the way its job ended. */
export async function checkExecutions(engine: Engine, jobs: EndedTurn[]): Promise<string[]> {
  const connection = await Connection.connect({ address: engine.temporalAddress });
  try {
    const { workflow } = new Client({ connection, namespace: engine.namespace });
    const problems = jobs.map(async ({ id, turn, hasFailed }) => {
      const { status } = await workflow.getHandle(jobWorkflowId(id, turn)).describe();
      const wanted = hasFailed ? 'FAILED' : 'COMPLETED';
      return status.name === wanted ? [] : [`the execution of turn ${turn} of ${id} is ${status.name}`];
    });
    return (await Promise.all(problems)).flat();
  } finally {
    await connection.close();
  }
}
