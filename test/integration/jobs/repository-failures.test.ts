import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { writing } from '../../support/writing-script.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

async function startGithubStack({ token }: { token?: string } = {}) {
  await using resources = new AsyncDisposableStack();
  const github = resources.use(await createFakeGithub());
  const model = resources.use(await startScriptedModelServer());
  const options = {
    database,
    modelUrl: model.baseUrl,
    servers: { github: { token: token ?? github.token, apiUrl: github.apiUrl, app: null } },
  };
  const worker = resources.use(await startTestWorker(options));
  const repository = await github.addRepository('acme/lamp', { 'README.md': '# Lamp\n' });
  const running = resources.move();
  const job = { prompt: 'Add a file', repository: repository.url, forge: 'github' as const };
  return { github, model, worker, repository, job, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

describe('a job on GitHub', () => {
  it('ends in one pull request', async () => {
    await using stack = await startGithubStack();
    stack.model.script(...writing);
    const job = await stack.worker.runJob({ ...stack.job, draft: true });
    expect(job).toMatchObject({ status: 'completed', title: 'Add a file' });
    const [pullRequest, ...others] = stack.github.pullRequests('acme/lamp');
    expect(others).toEqual([]);
    expect(pullRequest).toMatchObject({ head: job.branch, base: 'main', title: 'Add a file', draft: true });
    expect(await stack.repository.git('rev-parse', `refs/heads/${job.branch}`)).toBe(job.headCommit);
    expect(stack.github.violations).toEqual([]);
  });

  it('opens no second pull request when the response to the first was lost', async () => {
    await using stack = await startGithubStack();
    stack.model.script(...writing);
    stack.github.fail({ on: 'create', status: null, after: true });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    expect(stack.github.pullRequests('acme/lamp')).toHaveLength(1);
  });

  it('outlasts temporary server errors', { tags: 'slow' }, async () => {
    await using stack = await startGithubStack();
    stack.model.script(...writing);
    stack.github.fail({ on: 'git-write', status: 502 });
    stack.github.fail({ on: 'create', status: 500 });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    expect(stack.github.pullRequests('acme/lamp')).toHaveLength(1);
  });

  it('waits out a rate limit', { tags: 'slow' }, async () => {
    await using stack = await startGithubStack();
    stack.model.script(...writing);
    stack.github.fail({ on: 'create', status: 403, headers: { 'retry-after': '2' } });
    const startedMs = performance.now();
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    expect(performance.now() - startedMs).toBeGreaterThan(2_000);
    expect(stack.github.pullRequests('acme/lamp')).toHaveLength(1);
  });

  it('fails at once if a rate limit outlasts the publish, says so, and continues with a message', async () => {
    await using stack = await startGithubStack();
    stack.model.script(...writing);
    stack.github.fail({ on: 'create', status: 429, headers: { 'retry-after': '3000' } });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'repository_unreachable', prLink: null });
    expect(job.message).toBe('GitHub rate-limits this credential; requests are accepted again in 50 min.');
    stack.model.script({ text: 'Nothing more to do.' });
    const second = await stack.worker.followUp(job.id, 'Go on');
    expect(second).toMatchObject({ status: 'completed', prLink: expect.any(String) });
    expect(stack.github.pullRequests('acme/lamp')).toHaveLength(1);
  });

  it('fails with the server’s reason when the push is declined', async () => {
    await using stack = await startGithubStack();
    stack.model.script(...writing);
    const hooks = join(stack.repository.path, 'hooks');
    await mkdir(hooks, { recursive: true });
    await writeFile(join(hooks, 'pre-receive'), '#!/bin/sh\necho no >&2\nexit 1\n');
    await chmod(join(hooks, 'pre-receive'), 0o755);
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'push_rejected', prLink: null });
    expect(stack.github.pullRequests('acme/lamp')).toEqual([]);
  });

  it('fails when the forge refuses the token, and reveals the token nowhere', async () => {
    const token = 'ghp_revoked0123456789abcdefghijklmno';
    await using stack = await startGithubStack({ token });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'authentication_refused' });
    const { rows } = await database.pool.query(`select jobs::text as text from jobs where id = $1`, [job.id]);
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('fails if the worker has no token', async () => {
    await using model = await startScriptedModelServer();
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
    const job = await worker.runJob({ prompt: 'Go', repository: 'https://github.com/acme/lamp', forge: 'github' });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'authentication_refused' });
    expect(job.message).toContain('GITHUB_TOKEN');
  });
});

describe('a repository', () => {
  it('without the ref fails the job with its category', async () => {
    await using repository = await createTestRepository();
    await using worker = await startTestWorker({ database });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path, requestedRef: 'nowhere' });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'ref_not_found' });
  });

  it('that does not exist fails the job, and the worker continues', async () => {
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    const job = await worker.runJob({ prompt: 'Go', repository: join(repository.path, 'nothing') });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'repository_unreachable' });
    model.script({ text: 'Fine.' });
    expect(await worker.runJob({ prompt: 'Go', repository: repository.path })).toMatchObject({ status: 'completed' });
  });

  it('that is deleted midway fails the job at its publish', async () => {
    const [write, finish] = writing;
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    model.script(write!, async () => {
      await rm(repository.path, { recursive: true });
      return finish!;
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'repository_unreachable', prLink: null });
  });

  it('whose base branch is deleted midway keeps the change and opens no pull request until it is restored', async () => {
    const [write, finish] = writing;
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    await repository.git('branch', 'release');
    const base = (await repository.git('rev-parse', 'release')).trim();
    model.script(write!, async () => {
      await repository.git('branch', '-D', 'release');
      return finish!;
    });
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path, requestedRef: 'release' });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'ref_not_found', prLink: null });
    expect(job.message).toContain(`The base branch release was deleted, so no pull request was opened.`);
    const branches = await repository.git('branch', '--list', 'docket/*', '--format=%(refname:short)');
    expect(job.message).toContain(`the change is on ${branches.trim()}.`);
    expect(await repository.git('show', `${branches.trim()}:new.txt`)).toBe('new');

    await repository.git('branch', 'release', base);
    model.script({ text: 'It is done.' });
    const again = await worker.followUp(job.id, 'Open it now');
    expect(again).toMatchObject({ status: 'completed', prLink: expect.stringContaining('/pulls/') });
  });

  it('that this worker may not use is refused before anything touches it', async () => {
    const problemWithRepository = () => 'The repository must be on an allowed host.';
    await using worker = await startTestWorker({ database, change: () => ({ problemWithRepository }) });
    const job = await worker.runJob({ prompt: 'Go', repository: '/etc' });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'repository_unreachable' });
    expect(job.message).toBe('The repository must be on an allowed host.');
  });

  it('on a full disk fails the job, and the worker continues', { tags: 'slow' }, async () => {
    let isFull = true;
    await using stack = await startJobStack({
      database,
      change: ({ workspaces }) => ({
        workspaces: {
          ...workspaces,
          snapshot(...request) {
            if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
            return workspaces.snapshot(...request);
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(writing[0]!);
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'tool_failure' });
    isFull = false;
    model.script(...writing);
    expect(await worker.runJob({ prompt: 'Go', repository: repository.path })).toMatchObject({ status: 'completed' });
  });
});
