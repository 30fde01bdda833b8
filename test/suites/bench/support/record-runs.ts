import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Activities } from '../../../../activities/index.ts';
import { createWorker, jobQueue } from '../../../../worker/create-worker.ts';
import { createClosedExecutionReader } from '../../../../worker/chores/history-export.ts';
import { jobWorkflowId, jobWorkflowName } from '../../../../workflows/contract/messages.ts';

/** The turn whose histories are recorded. */
export const recordedTurn = { jobId: 'job_bench', turn: 1 };

export type RecordedRuns = Awaited<ReturnType<typeof recordRuns>>;

/** Runs a job whose activities do nothing, and returns its history as it is stored. */
export async function recordRuns({ address, bundle, steps }: { address: string; bundle: string; steps: number }) {
  await using resources = new AsyncDisposableStack();
  const native = await NativeConnection.connect({ address });
  resources.defer(() => native.close());
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const client = new Client({ connection });
  const taskQueue = `bench-${randomUUID()}`;
  const queue = jobQueue(activitiesOf(steps), taskQueue);
  const worker = await createWorker({
    connection: native,
    namespace: 'default',
    bundle,
    queue,
    shutdownGraceMs: 0,
  });
  return await worker.runUntil(async () => {
    const limits = { maxSteps: steps + 1, maxTokens: 1e9, maxDurationMs: 600_000 };
    const handle = await client.workflow.start(jobWorkflowName, {
      workflowId: `${jobWorkflowId(recordedTurn.jobId, recordedTurn.turn)}/${randomUUID()}`,
      taskQueue,
      args: [{ ...recordedTurn, limits }],
    });
    await handle.result();
    const chain = await createClosedExecutionReader({ client, encryptionKeys: [] })(handle.workflowId);
    if (typeof chain === 'string') throw new Error(`The execution is ${chain}.`);
    return chain.runs;
  });
}

function activitiesOf(steps: number): Partial<Activities> {
  return {
    async prepare() {
      return undefined;
    },
    async runStep({ step }) {
      const usage = { inputTokens: 1, outputTokens: 1 };
      const tools = { finished: step === steps, changedFiles: 0 };
      return { toolCallCount: 1, finishReason: 'tool-calls', usage, tools };
    },
    async publish() {
      return { kind: 'no-changes' };
    },
    async recordOutcome() {
      return false;
    },
  };
}
