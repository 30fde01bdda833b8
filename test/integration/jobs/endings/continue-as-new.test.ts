import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import type { Activities } from '../../../../activities/index.ts';
import { createWorker, jobQueue } from '../../../../worker/create-worker.ts';
import { prepareWorkflowBundle } from '../../../../worker/workflow-bundle.ts';
import type { JobOutcome, StepRef } from '../../../../workflows/contract/job.ts';
import { jobWorkflowName } from '../../../../workflows/contract/messages.ts';
import { recordHistory } from '../../../support/database/histories.ts';

const steps = 270;

/** Activities that do nothing and record the order of their calls. */
function createNotes() {
  const notes: string[] = [];
  const activities: Partial<Activities> = {
    async prepare() {
      notes.push('prepare');
    },
    async runStep({ step }: StepRef) {
      notes.push(`step ${step}`);
      const usage = { inputTokens: 1, outputTokens: 1 };
      const tools = { finished: step === steps, changedFiles: 0 };
      return { toolCallCount: 1, finishReason: 'tool-calls', usage, tools };
    },
    async publish(): Promise<JobOutcome> {
      notes.push('publish');
      return { kind: 'no-changes' };
    },
    async recordOutcome({ outcome }) {
      notes.push(`record ${outcome.kind}`);
      return false;
    },
  };
  return { notes, activities };
}

it(
  'a turn with a long history continues as new at a step boundary, without skipping or repeating a step',
  { tags: 'slow' },
  async () => {
    const address = inject('temporalAddress');
    const { notes, activities } = createNotes();
    const taskQueue = `test-${randomUUID()}`;
    const native = await NativeConnection.connect({ address });
    const connection = await Connection.connect({ address });
    const client = new Client({ connection });
    const queue = jobQueue(activities, taskQueue);
    const bundle = await prepareWorkflowBundle();
    const worker = await createWorker({
      connection: native,
      namespace: 'default',
      bundle,
      queue,
      shutdownGraceMs: 0,
    });
    try {
      await worker.runUntil(async () => {
        const limits = { maxSteps: steps, maxTokens: 2 * steps + 1, maxDurationMs: 600_000 };
        const handle = await client.workflow.start(jobWorkflowName, {
          workflowId: `agent-job/job_${randomUUID()}`,
          taskQueue,
          args: [{ jobId: 'job_1', turn: 1, limits }],
        });
        expect(await handle.result()).toEqual({ kind: 'no-changes' });
        const last = await client.workflow.getHandle(handle.workflowId).describe();
        expect(last.runId).not.toBe(handle.firstExecutionRunId);
        expect(last.historyLength).toBeLessThan(300);
        await recordHistory('continuing', client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId));
        await recordHistory('continued', client.workflow.getHandle(handle.workflowId));
      });
    } finally {
      await connection.close();
      await native.close();
    }
    const loop = Array.from({ length: steps }, (_, index) => `step ${index + 1}`);
    expect(notes).toEqual(['prepare', ...loop, 'publish', 'record no-changes']);
  },
);
