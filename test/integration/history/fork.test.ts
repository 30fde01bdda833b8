import { describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { createJobForkStore, type NewFork } from '../../../db/jobs/job-forks.ts';
import { createJobTimelineStore } from '../../../db/jobs/job-timeline.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { collectJob } from '../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../worker/replay/exact-question.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { TestWorker } from '../../support/stack/worker.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
const write = (path: string, content = `${path}\n`) => call('write', { path, content });
const finish = (title: string) => call('finish', { title, summary: `${title}.`, complete: true });

interface Scene {
  worker: TestWorker;
  model: ScriptedModelServer;
  repository: TestRepository;
  fork(from: NewFork['from'], how?: { model?: string; prompt?: string }): Promise<JobRow>;
  /** Starts a fork as the API does, and waits for its end. */
  run(job: JobRow): Promise<JobRow>;
}

async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using stack = await startJobStack({
    database,
    files: {
      'README.md': '# Lamp\n',
      'gone.txt': 'gone\n',
      'tool.sh': { executable: '#!/bin/sh\n' },
      'link.txt': { link: 'README.md' },
      'AGENTS.md': 'Be brief.\n',
    },
  });
  const { repository, model, worker } = stack;
  const forks = createJobForkStore(database.pool);
  await work({
    worker,
    model,
    repository,
    async fork(from, { model: name = null, prompt = null } = {} as never) {
      const made = await forks.fork(await asOperator(database.pool).of(from.jobId), {
        id: newId('job_'),
        from,
        models: name === null ? null : [name],
        prompt,
        idempotency: null,
      });
      if (!('job' in made)) throw new Error(made.kind);
      return made.job;
    },
    async run({ id, turn }) {
      await worker.startJob(id, {}, turn);
      return worker.ended(id, turn);
    },
  });
  expect(model.violations).toEqual([]);
}

const filesOf = async (repository: TestRepository, job: JobRow) => repository.read(job.headCommit!);

describe('a fork', () => {
  it(
    'continues after a step of a failed job, with its conversation and its tree, on its own branch',
    { tags: 'slow' },
    async () => {
      await scene(async ({ worker, model, repository, fork, run }) => {
        model.script(
          call('delete', { path: 'gone.txt' }),
          call('move', { from: 'tool.sh', to: 'bin/tool.sh' }),
          call('delete', { path: 'link.txt' }),
          write('wrong.txt'),
          { status: 400 },
        );
        const failed = await worker.runJob({ prompt: 'Tidy up', repository: repository.path });
        expect(failed.status).toBe('failed');
        const made = await fork({ jobId: failed.id, step: 3 });
        const forkedFrom = { jobId: failed.id, turn: 1, step: 3 };
        expect(made).toMatchObject({
          status: 'active',
          phase: 'queued',
          turn: 1,
          steps: 0,
          inputTokens: 0,
          forkedFrom,
        });
        expect(made).toMatchObject({ baseCommit: failed.baseCommit, branch: null, prLink: null });

        const before = model.requests.length;
        model.script(write('right.txt'), finish('Tidy up'));
        const done = await run(made);
        await recordHistory('forked', worker.client.workflow.getHandle(`agent-job/${done.id}`));
        expect(done).toMatchObject({ status: 'completed', steps: 2, forkedFrom });
        expect(done.branch).toContain(done.id);
        const files = await filesOf(repository, done);
        expect(Object.keys(files).toSorted()).toEqual(['AGENTS.md', 'README.md', 'bin/tool.sh', 'right.txt']);
        expect(files['bin/tool.sh']).toContain('100755');
        expect(await repository.git('rev-parse', `${done.headCommit}^`)).toBe(failed.baseCommit);

        // the same prompt as the other job's at step 4
        const collected = await collectJob(asOperator(database.pool).record(failed.id));
        const roles = model.requests[before]!.body.messages.map(({ role }) => role);
        expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool']);
        const own = await collectJob(asOperator(database.pool).record(done.id));
        expect(exactQuestionOf(own!, { turn: 1, step: 4 })).toEqual(exactQuestionOf(collected!, { turn: 1, step: 4 }));
        expect(exactQuestionOf(own!, { turn: 1, step: 4 }).match).toBe('exact');
        const operator = await asOperator(database.pool).of(done.id);
        const timeline = createJobTimelineStore(database.pool);
        const changeAt = (jobId: string, step: number) => timeline.patchAt(operator, { jobId, turn: 1, step });
        expect(await changeAt(done.id, 1)).toContain('gone.txt');
        for (const step of [1, 2, 3]) expect(await changeAt(done.id, step)).toBe(await changeAt(failed.id, step));
        expect(await changeAt(done.id, 4)).toContain('right.txt');
      });
    },
  );

  it('has its own step limit, and accepts follow-ups', { tags: 'slow' }, async () => {
    await scene(async ({ worker, model, repository, fork }) => {
      model.script(write('one.txt'), write('two.txt'), { status: 400 });
      const failed = await worker.runJob({ prompt: 'Write', repository: repository.path });
      const made = await fork({ jobId: failed.id, step: 2 }, { prompt: 'And three' });
      model.script(write('three.txt'), finish('Write three'));
      await worker.startJob(made.id, { maxSteps: 2 });
      const done = await worker.ended(made.id);
      expect(await worker.deps.jobs.usage(made.id, 1)).toMatchObject({ steps: 2 });
      expect(done).toMatchObject({ status: 'completed', waitingMessages: 0 });
      expect(JSON.stringify(model.requests.at(-2)!.body.messages.at(-1))).toContain('And three');
      model.script(write('four.txt'), finish('Write four'));
      const next = await worker.followUp(made.id, 'Write four');
      expect(next).toMatchObject({ status: 'completed', turn: 2, branch: done.branch });
      expect(Object.keys(await filesOf(repository, next))).toEqual(
        expect.arrayContaining(['one.txt', 'two.txt', 'three.txt', 'four.txt']),
      );
    });
  });

  it('continues from a further turn of a job, even an archived one', { tags: 'slow' }, async () => {
    await scene(async ({ worker, model, repository, fork, run }) => {
      model.script(write('one.txt'), finish('Write one'), write('two.txt'), write('wrong.txt'), finish('Write two'));
      const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
      const second = await worker.followUp(first.id, 'Write two');
      expect(second).toMatchObject({ status: 'completed', turn: 2 });
      await database.pool.query(`update jobs set status = 'archived' where id = $1`, [first.id]);
      const made = await fork({ jobId: first.id, turn: 2, step: 1 }, { model: 'compatible/other' });
      expect(made).toMatchObject({ turn: 2, model: 'compatible/other' });
      model.script(finish('Write both'));
      const done = await run(made);
      expect(done).toMatchObject({ status: 'completed', turn: 2 });
      expect(model.requests.at(-1)!.body.model).toBe('other');
      const files = Object.keys(await filesOf(repository, done));
      expect(files).toEqual(expect.arrayContaining(['one.txt', 'two.txt']));
      expect(files).not.toContain('wrong.txt');
      expect(await repository.git('rev-list', '--count', `main..${done.branch}`)).toBe('1');

      const earlier = await fork({ jobId: first.id, turn: 1, step: 1 });
      model.script(finish('Write one again'));
      expect(Object.keys(await filesOf(repository, await run(earlier)))).not.toContain('two.txt');
    });
  });

  it(
    'after a turn that changed nothing after a merge starts on the base that contains the change',
    { tags: 'slow' },
    async () => {
      await scene(async ({ worker, model, repository, fork, run }) => {
        model.script(write('one.txt'), finish('Write one'), call('read', { path: 'one.txt' }), { text: 'It is fine.' });
        const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
        const main = await repository.commit({ 'one.txt': 'one.txt\n' });
        await database.pool.query(`update pull_requests set state = 'merged' where id = $1`, [first.prId]);
        await worker.followUp(first.id, 'Is it fine?');
        const made = await fork({ jobId: first.id, turn: 2, step: 1 });
        model.script(write('two.txt'), finish('Write two'));
        const done = await run(made);
        expect(await repository.git('rev-parse', `${done.headCommit}^`)).toBe(main);
        expect(await repository.git('diff', '--name-only', main, done.headCommit!)).toBe('two.txt');

        const earlier = await fork({ jobId: first.id, turn: 1, step: 1 });
        model.script(finish('Write one again'));
        const again = await run(earlier);
        expect(await repository.git('rev-parse', `${again.headCommit}^`)).toBe(first.baseCommit);
        expect(Object.keys(await filesOf(repository, again))).toContain('one.txt');
      });
    },
  );

  it('of a fork has the tree of a step that both took over', { tags: 'slow' }, async () => {
    await scene(async ({ worker, model, repository, fork, run }) => {
      model.script(write('one.txt'), write('two.txt'), { status: 400 });
      const failed = await worker.runJob({ prompt: 'Write', repository: repository.path });
      const made = await fork({ jobId: failed.id, step: 2 });
      const again = await fork({ jobId: made.id, step: 1 });
      model.script(write('three.txt'), finish('Write one and three'));
      const files = Object.keys(await filesOf(repository, await run(again)));
      expect(files).toEqual(expect.arrayContaining(['one.txt', 'three.txt']));
      expect(files).not.toContain('two.txt');
      // without the first job, nothing has the tree
      await database.pool.query('delete from jobs where id = $1', [failed.id]);
      await expect(fork({ jobId: made.id, step: 1 })).rejects.toThrow('These files were deleted');
      expect(await fork({ jobId: made.id, step: 2 })).toMatchObject({ status: 'active' });
    });
  });

  it('of a fork has the files of the base commit where nothing had changed, although the first job is gone', async () => {
    await scene(async ({ worker, model, repository, fork, run }) => {
      model.script(call('read', { path: 'README.md' }), write('one.txt'), write('two.txt'), { status: 400 });
      const failed = await worker.runJob({ prompt: 'Write', repository: repository.path });
      const made = await fork({ jobId: failed.id, step: 3 });
      await database.pool.query('delete from jobs where id = $1', [failed.id]);
      const again = await fork({ jobId: made.id, step: 1 });
      model.script(write('three.txt'), finish('Write three'));
      const files = Object.keys(await filesOf(repository, await run(again)));
      expect(files).toContain('three.txt');
      expect(files).not.toContain('one.txt');
      await expect(fork({ jobId: made.id, step: 2 })).rejects.toThrow('These files were deleted');
    });
  });

  it('of a job that repeated itself continues, and is stopped only if its own steps do', { tags: 'slow' }, async () => {
    await scene(async ({ worker, model, repository, fork, run }) => {
      const read = call('read', { path: 'README.md' });
      model.script(read, read, read, read, read);
      const stuck = await worker.runJob({ prompt: 'Read', repository: repository.path });
      expect(stuck).toMatchObject({ status: 'failed', failureCategory: 'no_progress', steps: 5 });
      const made = await fork({ jobId: stuck.id, step: 5 }, { model: 'compatible/other' });
      model.script(read, write('one.txt'), finish('Write one'));
      expect(await run(made)).toMatchObject({ status: 'completed', steps: 3 });
      const again = await fork({ jobId: stuck.id, step: 5 });
      model.script(read, read, read, read, read);
      expect(await run(again)).toMatchObject({ failureCategory: 'no_progress', steps: 5 });
    });
  });

  it('of an active job accepts a step that has ended, and no other', async () => {
    await scene(async ({ worker, model, repository, fork, run }) => {
      model.script(write('one.txt'), { ...write('two.txt'), stall: true }, finish('Write two'));
      const id = await worker.createJob({ prompt: 'Write', repository: repository.path });
      await worker.startJob(id);
      await expect.poll(() => model.requests.length).toBe(2);
      await expect(fork({ jobId: id, step: 2 })).rejects.toThrow('no-step');
      const made = await fork({ jobId: id, step: 1 });
      model.release();
      expect(await worker.ended(id)).toMatchObject({ status: 'completed' });
      model.script(finish('Write one'));
      const done = await run(made);
      expect(Object.keys(await filesOf(repository, done))).not.toContain('two.txt');
    });
  });
});
