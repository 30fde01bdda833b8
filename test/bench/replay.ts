import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { Activities } from '../../activities/index.ts';
import { unpackHistory } from '../../db/stored-history.ts';
import { createWorker, jobQueue } from '../../worker/create-worker.ts';
import { createClosedExecutionReader } from '../../worker/history-export.ts';
import { replayRuns } from '../../worker/replay/replay-history.ts';
import { prepareWorkflowBundle } from '../../worker/workflow-bundle.ts';
import { jobWorkflowId, jobWorkflowName } from '../../workflows/contract/messages.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const job = { jobId: 'job_bench', turn: 1 };

/** How long it takes to run the workflow code over the history of a long job, beside the shortest history there is. */
export async function benchReplay(servers: BenchServers, options: BenchOptions): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: 'OFF' } },
  });
  const { address } = await servers.engine();
  const bundle = await prepareWorkflowBundle();
  const rows: (string | number)[][] = [];
  let shortest = Number.NaN;
  for (const steps of options.isQuick ? [1, 30] : [1, 300]) {
    const runs = await recordRuns({ address, bundle, steps });
    const stored = runs.reduce((sum, { history }) => sum + history.length, 0);
    const times: number[] = [];
    const cpu: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const [begin, cpuBegin] = [performance.now(), process.cpuUsage()];
      const histories = await Promise.all(runs.map(({ history }) => unpackHistory(history)));
      const verdict = await replayRuns({ bundle, workflowId: jobWorkflowId(job.jobId, job.turn), runs: histories });
      if (!verdict.matches) throw new Error(verdict.problem);
      times.push(performance.now() - begin);
      const { user, system } = process.cpuUsage(cpuBegin);
      cpu.push((user + system) / 1000);
    }
    if (steps === 1) shortest = median(times);
    const events = runs.reduce((sum, { eventCount }) => sum + eventCount, 0);
    const ratio = steps === 1 ? '1' : figure(median(times) / shortest);
    rows.push([`${steps} steps`, events, runs.length, stored, figure(median(times)), figure(median(cpu)), ratio]);
  }
  const header = ['', 'events', 'runs', 'bytes kept', 'replay ms', 'CPU ms', 'times the shortest'];
  printTable('replay: the workflow code over a history, unpacking included, nothing cached', header, rows);
  printNote('aim: a history of 300 steps in ≤ 1,000 ms');
}

/** Lets a job run whose activities do nothing, and answers its history as it is kept. */
async function recordRuns({ address, bundle, steps }: { address: string; bundle: string; steps: number }) {
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
      workflowId: `${jobWorkflowId(job.jobId, job.turn)}/${randomUUID()}`,
      taskQueue,
      args: [{ ...job, limits }],
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
    async callModel() {
      return { toolCallCount: 1, finishReason: 'tool-calls', usage: { inputTokens: 1, outputTokens: 1 } };
    },
    async runTools({ step }) {
      return { finished: step === steps, changedFiles: 0 };
    },
    async publish() {
      return { kind: 'no-changes' };
    },
    async recordOutcome() {
      return false;
    },
  };
}
