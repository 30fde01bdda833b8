import { expect, it } from 'vitest';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const write = (path: string) => ({ name: 'write', input: { path, content: 'on: push\n' } });
const finish = { name: 'finish', input: { title: 'Write', summary: 'Written.', checked: 'Read it.' } };

async function start() {
  await using resources = new AsyncDisposableStack();
  const repository = resources.use(
    await createTestRepository({
      'README.md': '# Lamp\n',
      '.github/pull_request_template.md': '<!-- hint -->\n- [ ] Reviewed by a person\n',
    }),
  );
  const model = resources.use(await startScriptedModelServer());
  const worker = resources.use(await startTestWorker({ database, modelUrl: model.baseUrl }));
  const running = resources.move();
  return { repository, model, worker, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

it(
  'tells the agent which path it may not change, and publishes the rest with the repository’s template',
  { tags: ['slow'] },
  async () => {
    await using scene = await start();
    const { repository, model, worker } = scene;
    model.script({ toolCalls: [write('.github/workflows/ci.yml'), write('docs/a.md')] }, { toolCalls: [finish] });
    const job = await worker.runJob({ prompt: 'Write', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed', title: 'Write' });
    expect(Object.keys(await repository.read(job.headCommit!)).toSorted()).toEqual([
      '.github/pull_request_template.md',
      'README.md',
      'docs/a.md',
    ]);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('is run by the forge');
    const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
    expect(pullRequest!.body).toMatch(/\*\*Checked:\*\* Read it\.[^]*---\n\n- \[ \] Reviewed by a person/);
    expect(
      await repository.git('log', '-1', '--format=%(trailers:key=Co-authored-by,valueonly)', job.headCommit!),
    ).toContain(job.model);
  },
);

it('pushes nothing if the change includes a path that the project does not allow', async () => {
  await using scene = await start();
  const { repository, model, worker } = scene;
  const id = await worker.createJob({ prompt: 'Write', repository: repository.path });
  model.script({ toolCalls: [write('src/a.ts')] }, async () => {
    // the rule is tightened once the file is written
    const rule = `update projects set allowed_paths = '{docs/**}' where id = (select project_id from jobs where id = $1)`;
    await database.pool.query(rule, [id]);
    return { toolCalls: [finish] };
  });
  await worker.startJob(id);
  const job = await worker.ended(id);
  expect(job).toMatchObject({ status: 'failed', failureCategory: 'path_not_allowed', prLink: null });
  await recordHistory('failed-path-not-allowed', worker.client.workflow.getHandle(`agent-job/${id}`));
  expect(job.message).toMatch(/^Nothing was pushed: src\/a\.ts may not be changed/);
  expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});

it('tells the agent which of its new files .gitignore keeps out of the pull request', async () => {
  await using scene = await start();
  const { repository, model, worker } = scene;
  await repository.commit({ '.gitignore': 'dist/\n*.log\n', 'kept.log': 'tracked\n' });
  const move = { name: 'move', input: { from: 'docs/a.md', to: 'dist/a.md' } };
  const files = [
    write('dist/out.md'),
    write('docs/a.md'),
    write('docs/b.md'),
    move,
    write('kept.log'),
    write('dist/:(x).md'),
  ];
  model.script({ toolCalls: files }, { toolCalls: [finish] });
  const job = await worker.runJob({ prompt: 'Write', repository: repository.path });
  const told = JSON.stringify(model.requests.at(-1)?.body).match(/Git ignores [^:]+/g);
  expect(told).toEqual(['Git ignores dist/out.md', 'Git ignores dist/a.md', 'Git ignores dist/']);
  expect(Object.keys(await repository.read(job.headCommit!))).not.toContain('dist/out.md');
});
