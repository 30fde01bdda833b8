import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import { createJobStarter } from '../../../api/jobs/job-starter.ts';
import { createTemporalClient } from '../../../api/temporal.ts';
import { createDataConverter } from '../../../lib/encryption/data-converter.ts';
import type { EncryptionKey } from '../../../lib/encryption/keys.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { openTemporalCredentials, readTemporalSettings } from '../../../lib/temporal/temporal-credentials.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { readableHistory, testKeys } from '../../support/database/encryption.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { writing } from '../../support/writing-script.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const limits = { maxSteps: 20, maxTokens: 987_654, maxDurationMs: 120_000 };
/** A job started by an API with `first` that is in its first model call when all processes stop. */
async function startJob(first: EncryptionKey[]) {
  await using resources = new AsyncDisposableStack();
  const repository = resources.use(await createTestRepository());
  const model = resources.use(await startScriptedModelServer());
  const stalled = { ...writing[0]!, stall: true } as const;
  model.script(stalled);
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl, encryptionKeys: first });
  const { taskQueue } = worker;
  const jobId = await worker.createJob({ prompt: 'Go', repository: repository.path });
  await startAsApi({ jobId, taskQueue, keys: first });
  await model.nextRequest();
  model.respondWith(({ body }) => writing[body.messages.some(({ role }) => role === 'tool') ? 1 : 0]!);
  const running = resources.move();
  return { jobId, taskQueue, model, repository, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

async function startAsApi({ jobId, taskQueue, keys }: { jobId: string; taskQueue: string; keys: EncryptionKey[] }) {
  const settings = readTemporalSettings({ TEMPORAL_ADDRESS: inject('temporalAddress') });
  using credentials = openTemporalCredentials(settings, { onFailure: () => undefined });
  await using temporal = createTemporalClient({ settings, credentials, encryptionKeys: keys });
  await createJobStarter({ ...temporal, limits, taskQueue })({ jobId, turn: 1, organizationId: 'org_one' });
}

const secretWords = ['987654', 'maxTokens', 'prLink', 'published', '/pulls/', 'toolCallCount'];

describe('a job', () => {
  it.each([
    ['under one key ends under the next one', ['k1'], ['k2', 'k1']],
    ['before encryption was turned on ends with it', [], ['k1']],
  ])('that began %s', { tags: 'slow' }, async (_, first, second) => {
    await using begun = await startJob(testKeys(...first));
    const { jobId, taskQueue, model } = begun;
    const keys = testKeys(...second);
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl, encryptionKeys: keys, taskQueue });
    expect(await worker.ended(jobId)).toMatchObject({ status: 'completed', steps: 2 });
    const handle = worker.client.workflow.getHandle(jobWorkflowId(jobId, 1));
    expect(await handle.result()).toMatchObject({ kind: 'published' });

    const readable = await readableHistory(handle);
    for (const id of [...first, second[0]!]) expect(readable).toMatch(new RegExp(`encryption-key-id[^a-z]+${id}`));
    const isPlainAtFirst = first.length === 0;
    expect(secretWords.filter((word) => readable.includes(word))).toEqual(
      isPlainAtFirst ? ['987654', 'maxTokens'] : [],
    );

    const dataConverter = createDataConverter(keys);
    const bundle = await prepareWorkflowBundle({ failureConverterPath: dataConverter.failureConverterPath });
    const replayer = { workflowBundle: { codePath: bundle }, dataConverter };
    await Worker.runReplayHistory(replayer, await handle.fetchHistory(), handle.workflowId);
  });

  it('that fails leaves no reason in plain text in Temporal’s history', async () => {
    await using stack = await startJobStack({ database, encryptionKeys: testKeys('k1') });
    const { repository, model, worker } = stack;
    model.script({ status: 401 });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    const sentence = 'The model provider rejected the request with status 401. Check the API key.';
    expect(job.message).toContain(sentence);
    const handle = worker.client.workflow.getHandle(jobWorkflowId(job.id, 1));
    const readable = await readableHistory(handle);
    expect(readable).toContain('Encoded failure');
    expect(readable).not.toContain(sentence);
    expect(readable).not.toContain('ApplicationFailure:');
    await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { message: sentence } } });
  });

  it('waits for its key when a worker without it picks it up', { tags: 'slow' }, async () => {
    const keys = testKeys('k1');
    await using begun = await startJob(keys);
    const { jobId, taskQueue, model } = begun;
    const sentence = 'The encryption key k1 is missing. Add it to DOCKET_ENCRYPTION_KEYS.';
    {
      await using keyless = await startTestWorker({ database, modelUrl: model.baseUrl, taskQueue });
      const handle = keyless.client.workflow.getHandle(jobWorkflowId(jobId, 1));
      const failureOfActivity = async () =>
        (await handle.describe()).raw.pendingActivities?.[0]?.lastFailure?.message ?? '';
      await expect.poll(failureOfActivity).toContain(sentence);

      const other = await keyless.createJob({ prompt: 'Go', repository: begun.repository.path });
      await startAsApi({ jobId: other, taskQueue, keys });
      const unstarted = keyless.client.workflow.getHandle(jobWorkflowId(other, 1));
      await expect.poll(() => readableHistory(unstarted)).toContain(sentence);
      await unstarted.terminate();
    }
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl, encryptionKeys: keys, taskQueue });
    expect(await worker.ended(jobId)).toMatchObject({ status: 'completed', steps: 2 });
  });
});
