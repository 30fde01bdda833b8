import { describe, expect, it } from 'vitest';
import { changeProject } from '../../support/database/build.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { readableDatabase, readableHistory, testKeys } from '../../support/database/encryption.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker, type TestWorker } from '../../support/stack/worker.ts';
import { writing } from '../../support/writing-script.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const leaking = [{ toolCalls: [{ name: 'read', input: { path: 'leak.txt' } }] }, ...writing];

/** A forge that knows one token, and a repository with that token in a file. */
async function startForge() {
  await using resources = new AsyncDisposableStack();
  const github = resources.use(await createFakeGithub());
  const model = resources.use(await startScriptedModelServer());
  const repository = await github.addRepository('acme/lamp', { 'leak.txt': `token=${github.token}\n` });
  const running = resources.move();
  const job = { prompt: 'Add a file', repository: repository.url, forge: 'github' as const };
  return { github, model, job, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** A job whose project has a token, encrypted under the first of the keys. */
async function createJobWithToken(
  worker: TestWorker,
  { job, token, keys }: { job: any; token: string; keys: string[] },
) {
  const jobId = await worker.createJob(job);
  const { projectId } = (await worker.deps.jobs.get(jobId))!;
  const box = createSecretBox(testKeys(...keys));
  expect(await changeProject(database.pool, projectId, { forgeToken: token }, box)).not.toBeNull();
  return { jobId, projectId };
}

describe('the token of a project', () => {
  it('is used before the worker’s, and is stored nowhere in plain text', { tags: 'slow' }, async () => {
    await using forge = await startForge();
    const { github, model, job } = forge;
    model.script(...leaking);
    await using worker = await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      servers: { github: { token: 'wrong-token-of-the-worker', apiUrl: github.apiUrl, app: null } },
      encryptionKeys: testKeys('k1'),
    });
    const { jobId } = await createJobWithToken(worker, { job, token: github.token, keys: ['k1'] });
    await worker.startJob(jobId);
    expect(await worker.ended(jobId)).toMatchObject({ status: 'completed' });
    expect(github.pullRequests('acme/lamp')).toHaveLength(1);
    expect(github.requests.filter(({ path }) => path.includes(github.token))).toEqual([]);

    const seenByModel = JSON.stringify(model.requests.map(({ body }) => body));
    expect(seenByModel).toContain('token=[redacted]');
    const history = await readableHistory(worker.client.workflow.getHandle(jobWorkflowId(jobId, 1)));
    const stored = await readableDatabase(database.pool);
    expect(stored).toContain('enc:v1:k1:');
    for (const text of [seenByModel, history, stored]) {
      expect(text).not.toContain(github.token);
      expect(text).not.toContain(Buffer.from(github.token).toString('hex'));
      expect(text).not.toContain(Buffer.from(github.token).toString('base64'));
    }
  });

  it('encrypted under a key the worker lacks makes the job wait, not fail', { tags: 'slow' }, async () => {
    await using forge = await startForge();
    const { github, model, job } = forge;
    model.script(...leaking);
    const options = {
      database,
      modelUrl: model.baseUrl,
      servers: { github: { token: null, apiUrl: github.apiUrl, app: null } },
    };
    let jobId = '';
    let taskQueue = '';
    {
      await using worker = await startTestWorker({ ...options, encryptionKeys: testKeys('k1') });
      ({ taskQueue } = worker);
      ({ jobId } = await createJobWithToken(worker, { job, token: github.token, keys: ['k2'] }));
      await worker.startJob(jobId);
      const handle = worker.client.workflow.getHandle(jobWorkflowId(jobId, 1));
      const attempt = async () => (await handle.describe()).raw.pendingActivities?.[0]?.attempt ?? 0;
      await expect.poll(attempt).toBeGreaterThan(3);
      expect(await worker.deps.jobs.get(jobId)).toMatchObject({ status: 'active' });
    }
    await using worker = await startTestWorker({ ...options, encryptionKeys: testKeys('k2', 'k1'), taskQueue });
    expect(await worker.ended(jobId)).toMatchObject({ status: 'completed' });
  });

  it('can be decrypted for its own project only', async () => {
    await using forge = await startForge();
    await using worker = await startTestWorker({ database, encryptionKeys: testKeys('k1') });
    const token = { token: 'ghp_of-the-first', keys: ['k1'], job: forge.job };
    const [first, second] = [await createJobWithToken(worker, token), await createJobWithToken(worker, token)];
    await database.pool.query(
      'update projects set credential = (select credential from projects where id = $1) where id = $2',
      [first.projectId, second.projectId],
    );
    const tokenOf = async (projectId: string) => (await worker.deps.credentials.read(projectId))?.token();
    await expect(tokenOf(second.projectId)).rejects.toThrow(/cannot be decrypted/);
    expect(await tokenOf(first.projectId)).toBe('ghp_of-the-first');
  });
});
