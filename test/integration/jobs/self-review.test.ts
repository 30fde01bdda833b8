import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository, runTestGit } from '../../support/git-repository.ts';
import { recordHistory } from '../../support/database/histories.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-wire.ts';
import { startTestWorker, type TestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const write = (path: string, content = `${path}\n`): ScriptedReply => ({
  toolCalls: [{ name: 'write', input: { path, content } }],
});
const finish = (summary: string, findings?: string): ScriptedReply => ({
  toolCalls: [{ name: 'finish', input: { title: 'Write files', summary, findings } }],
});
const job = { prompt: 'Write one' };

async function scene(
  act: (scene: { model: ScriptedModelServer; worker: TestWorker; repository: string }) => Promise<void>,
): Promise<void> {
  await using model = await startScriptedModelServer();
  await using repository = await createTestRepository();
  await using worker = await startTestWorker({
    database,
    modelUrl: model.baseUrl,
    change: () => ({ selfReview: true }),
  });
  await act({ model, worker, repository: repository.path });
  expect(model.violations).toEqual([]);
}

async function bodyOfPullRequest(prId: string | null): Promise<string> {
  const { rows } = await database.pool.query<{ body: string }>('select body from pull_requests where id = $1', [prId]);
  return rows[0]!.body;
}

describe('an agent that has finished', () => {
  it('reviews its change once, may correct it, and reports what it leaves', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script(write('one.txt'), finish('First.'), write('two.txt'), finish('Both.', 'No test exists. Closes #7.'));
      const done = await worker.runJob({ ...job, repository });
      expect(done).toMatchObject({ status: 'completed', message: 'Both.', steps: 4 });
      const review = JSON.stringify(model.requests[2]!.body.messages.at(-1));
      expect(review).toContain('review it as a strict reviewer would');
      expect(review).toContain('+one.txt');
      // the request goes on from the last one, so that it is read from the provider's cache
      expect(model.requests[2]!.body.tools).toEqual(model.requests[1]!.body.tools);
      const body = await bodyOfPullRequest(done.prId);
      expect(body).toContain('## Self-review\n\nNo test exists.');
      expect(body).not.toContain('Closes #7');
      expect(await asOperator(database.pool).latestPatch(done.id)).toContain('+two.txt');
      const { events } = await asOperator(database.pool).events(done.id);
      expect(events.filter(({ type }) => type === 'notice')).toMatchObject([
        { step: 3, data: { text: 'The agent reviews its change before it is published.' } },
      ]);
      await recordHistory('self-review', worker.client.workflow.getHandle(`agent-job/${done.id}`));
    });
  });

  it('reviews its change also when it has ended with text alone', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script(write('one.txt'), { text: 'First.' }, write('two.txt'), { text: 'No test exists.' });
      const done = await worker.runJob({ ...job, repository });
      expect(done).toMatchObject({
        status: 'completed',
        message: 'First.',
        title: 'Write one',
        prDraft: false,
        steps: 4,
      });
      expect(JSON.stringify(model.requests[2]!.body.messages.at(-1))).toContain('review it as a strict reviewer would');
      expect(await bodyOfPullRequest(done.prId)).toContain('## Self-review\n\nNo test exists.');
      expect(await asOperator(database.pool).latestPatch(done.id)).toContain('+two.txt');
      await recordHistory('self-review-text', worker.client.workflow.getHandle(`agent-job/${done.id}`));
    });
  });

  it('whose limits leave no room for a review says so in the pull request', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script(write('one.txt'), finish('First.'));
      const done = await worker.runJob({ ...job, repository }, { maxSteps: 3 });
      expect(done).toMatchObject({ status: 'completed', message: 'First.', prDraft: false });
      expect(await bodyOfPullRequest(done.prId)).toContain('the limits of the job left no room for it');
    });
  });

  const half = write('one.txt', 'half a correction\n');
  const refusal: ScriptedReply = { status: 400, errorMessage: 'No.' };
  it.each([
    ['a limit', 'limit', { maxSteps: 4 }, [half, { text: 'Hm.' }]],
    ['a limit, with a last call of finish,', 'forced', { maxSteps: 4 }, [half, finish('Half.')]],
    ['the provider', 'refused', {}, [half, refusal]],
  ] as [string, string, object, ScriptedReply[]][])(
    'is published as it finished when %s ends its review',
    { tags: 'slow' },
    async (_, name, limits, replies) => {
      await scene(async ({ model, worker, repository }) => {
        model.script(write('one.txt'), finish('First.'), ...replies);
        const done = await worker.runJob({ ...job, repository }, limits);
        expect(done).toMatchObject({ status: 'completed', message: 'First.', title: 'Write files', prDraft: false });
        expect(await bodyOfPullRequest(done.prId)).toContain('The agent did not complete its review of the change.');
        const patch = await asOperator(database.pool).latestPatch(done.id);
        expect(patch).toContain('+one.txt');
        expect(patch).not.toContain('half');
        expect(await runTestGit(['show', `${done.branch}:one.txt`], { cwd: repository })).toBe('one.txt');
        await recordHistory(`self-review-${name}`, worker.client.workflow.getHandle(`agent-job/${done.id}`));
      });
    },
  );

  it('is published with its correction when its last call reports that all is done', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      const done = { title: 'Write files', summary: 'Both.', complete: true };
      model.script(write('one.txt'), finish('First.'), write('two.txt'), {
        toolCalls: [{ name: 'finish', input: done }],
      });
      const ended = await worker.runJob({ ...job, repository }, { maxSteps: 4 });
      expect(ended).toMatchObject({ status: 'completed', message: 'Both.', prDraft: false });
      expect(await asOperator(database.pool).latestPatch(ended.id)).toContain('+two.txt');
    });
  });

  it.each(['completed', 'failed'])(
    'goes on from what it finished, and knows it, after its review was cut off and its publishing %s',
    { tags: 'slow' },
    async (status) => {
      await scene(async ({ model, worker, repository }) => {
        // with a branch of this name, the server refuses those that begin with it and a slash
        const branch = status === 'failed' ? 'docket' : 'other';
        await runTestGit(['branch', branch, 'main'], { cwd: repository });
        model.script(write('one.txt'), { text: 'First.' }, half, refusal);
        const first = await worker.runJob({ ...job, repository });
        expect(first.status).toBe(status);
        await runTestGit(['branch', '-D', branch], { cwd: repository });
        const asked = model.requests.length;
        // what was not published yet is reviewed
        const again = status === 'failed' ? [finish('Read.')] : [];
        model.script({ toolCalls: [{ name: 'read', input: { path: 'one.txt' } }] }, finish('Read.'), ...again);
        const done = await worker.followUp(first.id, 'Go on');
        expect(done).toMatchObject({ status: 'completed', message: 'Read.' });
        const messages = model.requests.slice(asked).map(({ body }) => body.messages);
        expect(JSON.stringify(messages[0]).split('as they were before the review')).toHaveLength(2);
        expect(JSON.stringify(messages[1]!.at(-1))).not.toContain('half');
        expect(await runTestGit(['show', `${done.branch}:one.txt`], { cwd: repository })).toBe('one.txt');
      });
    },
  );

  it.each([
    ['a limit', { maxSteps: 5 }, finish('Both.'), 'Both.'],
    ['the provider', {}, refusal, 'First.'],
  ] as [string, object, ScriptedReply, string][])(
    'is a draft with all of its work when a message came into its review and %s then ends it',
    { tags: 'slow' },
    async (_, limits, reply, message) => {
      await scene(async ({ model, worker, repository }) => {
        let id = '';
        model.script(
          write('one.txt'),
          finish('First.'),
          async () => {
            await asOperator(database.pool).send({ jobId: id, prompt: 'Write two, too', idempotency: null });
            return write('three.txt');
          },
          write('two.txt'),
          reply,
        );
        id = await worker.createJob({ ...job, repository });
        await worker.startJob(id, limits);
        const done = await worker.ended(id);
        expect(done).toMatchObject({ status: 'completed', title: 'Write files', message, prDraft: true });
        expect(done.incomplete).toContain('part of the task is not done');
        expect(await asOperator(database.pool).latestPatch(id)).toContain('+two.txt');
      });
    },
  );

  it('publishes nothing when it is cancelled during its review', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      let id = '';
      model.script(write('one.txt'), finish('First.'), async () => {
        await asOperator(database.pool).cancel(id);
        await worker.client.workflow.getHandle(`agent-job/${id}`).cancel();
        return { ...finish('Second.'), stall: true };
      });
      id = await worker.createJob({ ...job, repository });
      await worker.startJob(id);
      expect(await worker.ended(id)).toMatchObject({ status: 'failed', failureCategory: 'cancelled', prId: null });
    });
  });

  it.each([
    ['nothing has changed', [finish('Nothing to do.')], {}],
    [
      'part of the task is left',
      [write('one.txt'), { toolCalls: [{ name: 'finish', input: { title: 'x', summary: 'x', complete: false } }] }],
      {},
    ],
  ] as [string, ScriptedReply[], object][])('is not asked when %s', { tags: 'slow' }, async (_, replies, limits) => {
    await scene(async ({ model, worker, repository }) => {
      model.script(...replies);
      expect(await worker.runJob({ ...job, repository }, limits)).toMatchObject({ status: 'completed' });
    });
  });

  it.each([null, true])(
    'is not asked if it is the offline model, in a project that says %s',
    { tags: 'slow' },
    async (wanted) => {
      await scene(async ({ worker, repository }) => {
        const prompt = 'Replace "Lamp" with "Bulb" in README.md';
        const id = await worker.createJob({ prompt, repository, model: 'offline/editor' });
        await database.pool.query(
          'update projects set self_review = $2 where id = (select project_id from jobs where id = $1)',
          [id, wanted],
        );
        await worker.startJob(id);
        expect(await worker.ended(id)).toMatchObject({ status: 'completed', prDraft: false });
        expect(await asOperator(database.pool).latestPatch(id)).toContain('+# Bulb');
        const { events } = await asOperator(database.pool).events(id);
        expect(events.filter(({ type }) => type === 'notice')).toEqual([]);
      });
    },
  );

  it('is not asked in a project without reviews', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script(write('one.txt'), finish('First.'));
      const id = await worker.createJob({ ...job, repository });
      await database.pool.query(
        'update projects set self_review = false where id = (select project_id from jobs where id = $1)',
        [id],
      );
      await worker.startJob(id);
      expect(await worker.ended(id)).toMatchObject({ status: 'completed', steps: 2 });
    });
  });
});
