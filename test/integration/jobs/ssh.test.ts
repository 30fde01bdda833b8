import { describe, expect, it } from 'vitest';
import { changeProject } from '../../support/database/build.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { readableDatabase, readableHistory, testKeys } from '../../support/database/encryption.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { hasSsh } from '../../support/ssh/has-ssh.ts';
import { createKeyPair, startSshServer } from '../../support/ssh/ssh-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const writing = (path: string) => [
  { toolCalls: [{ name: 'write', input: { path, content: 'new\n' } }] },
  { toolCalls: [{ name: 'finish', input: { title: 'Add a file', summary: `Added ${path}.` } }] },
];

/** A forge whose repository is reached over ssh only, and a project on it. */
async function startScene({ keyOfProject = createKeyPair(), isKeySet = true } = {}) {
  await using resources = new AsyncDisposableStack();
  const github = resources.use(await createFakeGithub());
  const model = resources.use(await startScriptedModelServer());
  const key = createKeyPair();
  const server = resources.use(await startSshServer({ authorizedKeys: [key.public, keyOfProject.public] }));
  const repository = await github.addRepository('acme/lamp', { 'README.md': '# Lamp\n' });
  server.add('acme/lamp', repository.path);
  const worker = resources.use(
    await startTestWorker({
      database,
      modelUrl: model.baseUrl,
      servers: { github: { token: github.token, apiUrl: github.apiUrl, app: null } },
      encryptionKeys: testKeys('k1'),
    }),
  );
  const jobId = await worker.createJob({ prompt: 'Add', repository: server.url('acme/lamp'), forge: 'github' });
  const { projectId } = (await worker.deps.jobs.get(jobId))!;
  const change = { sshKnownHosts: [server.hostKey], ...(isKeySet && { sshKey: keyOfProject.private }) };
  await changeProject(database.pool, projectId, change, createSecretBox(testKeys('k1')));
  const running = resources.move();
  return {
    github,
    model,
    server,
    repository,
    worker,
    jobId,
    keyOfProject,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describe.skipIf(!hasSsh)('a job on a repository over ssh', () => {
  it(
    'pushes with the project’s key, and opens and updates its pull request with the forge’s token',
    { tags: 'slow' },
    async () => {
      await using scene = await startScene();
      const { github, model, server, worker, jobId, keyOfProject } = scene;
      model.script(...writing('first.txt'), ...writing('second.txt'));
      await worker.startJob(jobId);
      const job = await worker.ended(jobId);
      expect(job).toMatchObject({ status: 'completed', prLink: expect.stringMatching(/acme\/lamp\/pull/) });
      expect(await worker.followUp(jobId, 'Another')).toMatchObject({ status: 'completed', prLink: job.prLink });
      expect(github.pullRequests('acme/lamp')).toHaveLength(1);
      const files = Object.keys(await scene.repository.read(job.branch!));
      expect(files.toSorted()).toEqual(['README.md', 'first.txt', 'second.txt']);
      expect(server.commands).toContain("git-receive-pack '/acme/lamp'");
      expect(github.requests.filter(({ path }) => path.includes('git-'))).toEqual([]);

      const secret = keyOfProject.private.split('\n').at(3)!;
      const history = await readableHistory(worker.client.workflow.getHandle(jobWorkflowId(jobId, 1)));
      const stored = await readableDatabase(database.pool);
      const asked = JSON.stringify(model.requests.map(({ body }) => body));
      for (const text of [history, stored, asked]) expect(text).not.toContain(secret);
    },
  );

  it('fails with the remedy if the project has no key', async () => {
    await using scene = await startScene({ isKeySet: false });
    await scene.worker.startJob(scene.jobId);
    expect(await scene.worker.ended(scene.jobId)).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/has no ssh key. Give it one with --ssh-key/),
    });
    expect(scene.server.connections()).toBe(0);
  }, 120_000);
});
