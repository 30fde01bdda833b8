import { describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { createJobForkStore, type NewFork } from '../../../db/jobs/job-forks.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { asOperator } from '../../support/stack/operator.ts';
import type { TestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
const finish = (title: string) => call('finish', { title, summary: `${title}.`, complete: true });

interface Scene {
  worker: TestWorker;
  model: ScriptedModelServer;
  repository: TestRepository;
  fork(from: NewFork['from'], prompt: string | null): Promise<JobRow>;
}

async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using stack = await startJobStack({ database });
  const { repository, model, worker } = stack;
  const forks = createJobForkStore(database.pool);
  await work({
    worker,
    model,
    repository,
    async fork(from, prompt) {
      const caller = await asOperator(database.pool).of(from.jobId);
      const made = await forks.fork(caller, { id: newId('job_'), from, models: null, prompt, idempotency: null });
      if (!('job' in made)) throw new Error(made.kind);
      return made.job;
    },
  });
  expect(model.violations).toEqual([]);
}

describe('a fork of a job that waited', () => {
  it('for an answer continues with its prompt as the answer', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository, fork }) => {
      model.script({
        toolCalls: [
          ...call('write', { path: 'a.txt', content: 'a\n' }).toolCalls,
          ...call('ask', { question: 'MIT or ISC?' }).toolCalls,
        ],
      });
      const { id } = await worker.runJob({ prompt: 'Add a license', repository: repository.path, mayAsk: true });
      for (const prompt of [null, 'ISC']) {
        model.script(finish('License'));
        const forked = await fork({ jobId: id, turn: 1, step: 1 }, prompt);
        await worker.startJob(forked.id);
        expect(await worker.ended(forked.id)).toMatchObject({ status: 'completed' });
      }
      const [unanswered, answered] = model.requests.slice(1).map(({ body }) => body.messages.slice(-3));
      expect(unanswered!.at(-1)).toMatchObject({ role: 'tool', content: expect.stringContaining('no answer yet') });
      expect(answered).toMatchObject([
        { role: 'tool', content: expect.stringContaining('a.txt') },
        { role: 'tool', content: 'The person answers in the next message.' },
        { role: 'user', content: 'ISC' },
      ]);
    });
  });

  it('for an approval has the plan of the job only if it was made before', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository, fork }) => {
      const operator = asOperator(database.pool);
      const look = call('read', { path: 'README.md' });
      const job = { prompt: 'Paint', repository: repository.path, planReview: true, mayAsk: true };
      model.script(look, finish('First'));
      const { id } = await worker.runJob(job);
      const plansOf = (...turns: number[]) =>
        Promise.all(turns.map(async (turn) => (await fork({ jobId: id, turn, step: 1 }, 'Go on')).plan));
      expect(await plansOf(1)).toEqual([null]);
      model.script(call('ask', { question: 'Which color?' }));
      await worker.followUp(id, 'Plan again');
      expect(await plansOf(1, 2)).toEqual([null, 'First.']);
      model.script(look, finish('Second'));
      await worker.followUp(id, 'Red');
      expect(await plansOf(1, 2, 3)).toEqual([null, null, null]);
      expect(await operator.approve({ jobId: id, text: null })).toMatchObject({ kind: 'decided', job: { turn: 4 } });
      model.script(look, finish('Done'));
      await worker.startJob(id, {}, 4);
      await worker.ended(id, 4);
      expect(await plansOf(1, 3, 4)).toEqual([null, null, 'Second.']);
    });
  });
});
