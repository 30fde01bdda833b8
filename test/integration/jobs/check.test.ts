import { describe, expect, it } from 'vitest';
import type { ActivityDeps } from '../../../activities/index.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { accountsWithSandbox } from '../../support/sandbox/sandbox.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { ofFile } from '../../support/of-file.ts';

const { accounts } = await accountsWithSandbox();
const database = ofFile(createTestDatabase);

const check = 'cat docs/a.md; echo checked > docs/report; grep -q good docs/a.md';
const write = (content: string) => ({ name: 'write', input: { path: 'docs/a.md', content } });
const run = (command: string) => ({ name: 'run', input: { command } });
const finish = { name: 'finish', input: { title: 'Write it', summary: 'Written.' } };

/** A scene that counts commands, and a job on a project with the check command. */
async function start(change: (deps: ActivityDeps) => Partial<ActivityDeps> = () => ({})) {
  const ran: string[] = [];
  const scene = await startCommandScene(database, (deps) => {
    const { commands } = deps;
    if (commands === null || commands.sandbox === null) throw new Error('there is no sandbox');
    const { sandbox } = commands;
    const counted = {
      ...sandbox,
      run: (call: Parameters<typeof sandbox.run>[0]) => (ran.push(call.command), sandbox.run(call)),
    };
    return { commands: { ...commands, sandbox: counted }, ...change(deps) };
  });
  async function begin(command: string | null = check): Promise<string> {
    const id = await scene.worker.createJob({ prompt: 'Write', repository: scene.repository.path });
    await database.pool.query(
      'update projects set check_command = $2 where id = (select project_id from jobs where id = $1)',
      [id, command],
    );
    return id;
  }
  async function runJob(command?: string | null) {
    const id = await begin(command);
    await scene.worker.startJob(id);
    const job = await scene.worker.ended(id);
    const pullRequest = job.prId === null ? null : await createWorkerPullRequestStore(database.pool).get(job.prId);
    return { job, pullRequest, said: JSON.stringify(scene.model.requests.at(-1)?.body) };
  }
  return { ...scene, ran, begin, runJob };
}

describe.runIf(accounts.length > 0)('the check command of a project', () => {
  it(
    'is shown to the agent, sends it back to work, and lets it finish when it succeeds',
    { tags: ['slow'] },
    async () => {
      await using scene = await start();
      const { model, repository, ran, runJob } = scene;
      model.script({ toolCalls: [write('bad\n'), finish] }, { toolCalls: [write('good\n')] }, { toolCalls: [finish] });
      const { job, pullRequest, said } = await runJob();
      expect(job).toMatchObject({ status: 'completed', title: 'Write it', incomplete: null, prDraft: false });
      expect(job.check).toEqual({ command: check, result: 'passed' });
      expect(said).toContain('check command did not pass.\\n$ cat docs/a.md');
      expect(said).toContain('[exit code 1]\\nbad');
      expect(JSON.stringify(model.requests[0]!.body)).toContain('When you call finish, this command runs');
      expect(ran).toEqual([check, check]);
      expect(pullRequest).toMatchObject({ draft: false });
      expect(pullRequest!.body).toContain(
        "## Checked\n\nThe project's check command succeeded:\n\n```text\ncat docs/a.md",
      );
      // what the check wrote is not part of the change
      expect(Object.keys(await repository.read(job.headCommit!))).not.toContain('docs/report');
    },
  );

  it('makes work that fails it three times a draft, and says so', { tags: ['slow'] }, async () => {
    await using scene = await start();
    const { model, ran, runJob } = scene;
    model.script(
      { toolCalls: [write('one\n'), finish] },
      { toolCalls: [write('two\n'), finish] },
      { toolCalls: [write('three\n'), finish] },
    );
    const { job, pullRequest } = await runJob();
    const outcome = { check: { command: check, result: 'failed' }, prDraft: true };
    expect(job).toMatchObject({
      status: 'completed',
      ...outcome,
      incomplete: "The project's check command did not pass.",
    });
    expect(ran).toHaveLength(3);
    expect(pullRequest).toMatchObject({ draft: true });
    expect(pullRequest!.body).toMatch(/check command did not succeed:[^]*It said:\n\n```text\n\[exit code 1\]\nthree/);
  });

  it(
    'is not repeated on a tree that the agent ran it on, nor when its result is stored',
    { tags: ['slow'] },
    async () => {
      let lost = 0;
      await using scene = await start(({ steps }) => ({
        steps: {
          ...steps,
          async storeResults(batch) {
            if (batch.step === 2 && (lost += 1) === 1) throw new Error('the worker is lost before it stores');
            return steps.storeResults(batch);
          },
        },
      }));
      const { model, ran, runJob } = scene;
      const plain = 'grep good docs/a.md';
      model.script({ toolCalls: [write('good\n')] }, { toolCalls: [finish] });
      expect((await runJob(plain)).pullRequest).toMatchObject({ draft: false });
      expect(lost).toBe(2);
      expect(ran).toEqual([plain]);
      model.script({ toolCalls: [write('good\n'), run(plain), finish] });
      expect((await runJob(plain)).pullRequest).toMatchObject({ draft: false });
      expect(ran).toEqual([plain, plain]);
    },
  );

  it('is required when the agent ends with text alone, a few times', { tags: ['slow'] }, async () => {
    await using scene = await start();
    const { model, ran, runJob } = scene;
    model.script({ toolCalls: [write('good\n')] }, { text: 'Done.' }, { toolCalls: [finish] });
    const answered = await runJob();
    expect(answered.pullRequest).toMatchObject({ draft: false });
    expect(answered.said).toContain('Your work is not checked yet');
    expect(ran).toHaveLength(1);
    model.script(
      { toolCalls: [write('good\n')] },
      { text: 'One.' },
      { text: 'Two.' },
      { toolCalls: [write('bad\n')] },
      { text: 'Three.' },
      { text: 'Four.' },
    );
    const { job, pullRequest } = await runJob();
    expect(job.status).toBe('completed');
    expect(pullRequest).toMatchObject({ draft: true });
    expect(pullRequest!.body).toContain("The project's check command was not run.");
  });

  it('is skipped if nothing was changed', { tags: ['slow'] }, async () => {
    await using scene = await start();
    const { model, ran, runJob } = scene;
    model.script({ toolCalls: [finish] });
    expect((await runJob()).job).toMatchObject({ status: 'completed', prLink: null });
    expect(ran).toEqual([]);
  });
});

it('makes the work a draft if no command can be run, and the job says why', { tags: ['slow'] }, async () => {
  const problem = 'Commands cannot run here: bubblewrap is missing; install the package "bubblewrap".';
  await using scene = await startCommandScene(database, () => ({
    commands: { sandbox: null, problem, maxSeconds: 1, directory: '' },
  }));
  const { model, worker, repository } = scene;
  model.script({ toolCalls: [write('good\n'), finish] });
  const id = await worker.createJob({ prompt: 'Write', repository: repository.path });
  await database.pool.query("update projects set check_command = 'true'");
  await worker.startJob(id);
  const job = await worker.ended(id);
  const pullRequest = await createWorkerPullRequestStore(database.pool).get(job.prId!);
  expect(pullRequest).toMatchObject({ draft: true });
  expect(job).toMatchObject({ check: { command: 'true', result: 'not-run' }, prDraft: true });
  expect(job.incomplete).toBe("The project's check command was not run.");
  expect(pullRequest!.body).toContain('check command was not run. The worker cannot run commands.');
  expect(JSON.stringify(model.requests[0]!.body)).toContain('Commands are not available in this job');
  const { events } = await asOperator(database.pool).events(id);
  expect(events.filter(({ type }) => type === 'notice').map(({ data }) => data)).toEqual([{ text: problem }]);
});

it.runIf(accounts.length > 0)('also runs for a job on the offline model', async () => {
  await using scene = await startCommandScene(database);
  const { worker, repository } = scene;
  const id = await worker.createJob({
    prompt: 'Create docs/a.md with "bad". Run "sed -i s/bad/good/ docs/a.md && cat docs/a.md"',
    repository: repository.path,
    model: 'offline/editor',
  });
  await database.pool.query('update projects set check_command = $1', ['grep good docs/a.md']);
  await worker.startJob(id);
  const job = await worker.ended(id);
  expect(job).toMatchObject({ status: 'completed' });
  expect(job.message).toContain('- Done: Run "sed -i s/bad/good/ docs/a.md');
  expect(await repository.read(job.headCommit!)).toMatchObject({ 'docs/a.md': '100644 good' });
  expect(await createWorkerPullRequestStore(database.pool).get(job.prId!)).toMatchObject({ draft: false });
});
