import { randomUUID } from 'node:crypto';
import type { Worker as Thread } from 'node:worker_threads';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createWorker, jobQueue } from '../../../worker/create-worker.ts';
import { createOneThreadWorkers } from '../../../worker/one-thread-worker.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { archiveJobsWorkflowName } from '../../../workflows/contract/messages.ts';
import { quietRuntime } from '../../support/worker.ts';

let begun: Thread[] = [];
let ended = 0;
let resources = new AsyncDisposableStack();

function note(thread: Thread): void {
  begun.push(thread);
  thread.on('exit', () => (ended += 1));
}

beforeEach(() => {
  quietRuntime();
  [begun, ended, resources] = [[], 0, new AsyncDisposableStack()];
  process.on('worker', note);
  resources.defer(() => void process.off('worker', note));
});
afterEach(() => resources.disposeAsync());

/** Runs a worker of a queue of its own, whose workflows find its name. */
async function start(workers: ReturnType<typeof createOneThreadWorkers>, name: string) {
  const address = inject('temporalAddress');
  const native = await NativeConnection.connect({ address });
  resources.defer(() => native.close());
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const taskQueue = `test-${name}-${randomUUID()}`;
  const asked: string[] = [];
  const queue = jobQueue({ archiveIdleJobs: () => void asked.push(name) }, taskQueue);
  const bundle = await prepareWorkflowBundle();
  const shape = { namespace: 'default', bundle, shutdownGraceMs: 0, workers };
  const worker: Worker = await createWorker({ ...shape, connection: native, queue });
  const run = worker.run();
  const stop = async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await run;
  };
  resources.defer(stop);
  const work = async () => {
    const workflowId = `archive-${randomUUID()}`;
    const { workflow } = new Client({ connection });
    await workflow.execute(archiveJobsWorkflowName, { workflowId, taskQueue, args: [{ idleDays: 30 }] });
    return asked.length;
  };
  return { asked, stop, work };
}

it('workers of several queues run their workflows in one thread, each with its own activities', async () => {
  const workers = createOneThreadWorkers();
  const jobs = await start(workers, 'jobs');
  const sites = await start(workers, 'sites');
  await Promise.all([jobs.work(), sites.work()]);
  expect([jobs.asked, sites.asked]).toEqual([['jobs'], ['sites']]);
  expect(begun).toHaveLength(1);
});

it('the thread outlives the worker that began it, and ends with the last', async () => {
  const workers = createOneThreadWorkers();
  const [jobs, sites] = [await start(workers, 'jobs'), await start(workers, 'sites')];
  await jobs.stop();
  expect(await sites.work()).toBe(1);
  expect(ended).toBe(0);
  await sites.stop();
  expect(ended).toBe(1);
});

it('workers that come after the end of all others run in a new thread', async () => {
  const workers = createOneThreadWorkers();
  await (await start(workers, 'jobs')).stop();
  const sites = await start(workers, 'sites');
  expect(await sites.work()).toBe(1);
  expect([begun.length, ended]).toEqual([2, 1]);
});

it('workers that cannot run their code leave no thread, and the next try is a new one', async () => {
  const workers = createOneThreadWorkers();
  const native = await NativeConnection.connect({ address: inject('temporalAddress') });
  resources.defer(() => native.close());
  const shape = { connection: native, namespace: 'default', queue: jobQueue({}, `test-${randomUUID()}`), workers };
  await expect(createWorker({ ...shape, bundle: import.meta.filename })).rejects.toThrow('source map');
  expect(await (await start(workers, 'jobs')).work()).toBe(1);
});
