import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';

/** A Temporal namespace for one test: other workers poll the task queues of the default one and keep its schedules. */
export async function createTestNamespace({ workflowService }: Connection): Promise<string> {
  const namespace = `test-${randomUUID()}`;
  // a plain number is encoded as well as the type's Long
  const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  return namespace;
}
