import { expect, it } from 'vitest';
import { createJobTimelineStore } from '../../../db/jobs/job-timeline.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { collectJob } from '../../../worker/replay/collect-job.ts';
import { reportJob } from '../../../worker/replay/job-report.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { TestWorker } from '../../support/stack/worker.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
const write = (path: string) => call('write', { path, content: `${path}\n` });
const finish = call('finish', { title: 'Write', summary: 'Done.' });

interface Scene {
  worker: TestWorker;
  model: ScriptedModelServer;
  repository: TestRepository;
  /** The job after a turn that wrote `one.txt`. */
  first: JobRow;
}

async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using stack = await startJobStack({ database });
  const { repository, model, worker } = stack;
  model.script(write('one.txt'), finish);
  await work({ worker, model, repository, first: await worker.runJob({ prompt: 'One', repository: repository.path }) });
  expect(model.violations).toEqual([]);
}

/** The changes of the second turn's steps, as a replay and the API show them. */
async function changesOf(jobId: string): Promise<{ told: string[][]; differ: boolean[] }> {
  const collected = await collectJob(asOperator(database.pool).record(jobId));
  const { turns } = await reportJob(collected!, null);
  const steps = turns[1]!.steps;
  const timeline = createJobTimelineStore(database.pool);
  const operator = await asOperator(database.pool).of(jobId);
  return {
    told: steps.map(({ files }) => files.map(({ change, path }) => `${change} ${path}`)),
    differ: await Promise.all(
      steps.map(async ({ step }) => (await timeline.changeOf(operator, { jobId, turn: 2, step }))!.hasChanged),
    ),
  };
}

it('what a person pushed between two turns is not part of a step’s change', { tags: 'slow' }, async () => {
  await scene(async ({ worker, model, repository, first }) => {
    await repository.commit({ 'theirs.txt': 'theirs\n' }, { branch: first.branch! });
    model.script(call('read', { path: 'theirs.txt' }), write('two.txt'), finish);
    expect(await worker.followUp(first.id, 'Two')).toMatchObject({ status: 'completed' });
    expect(await changesOf(first.id)).toEqual({ told: [[], ['added two.txt'], []], differ: [false, true, false] });
  });
});

it('what was merged between two turns is not reverted by a step', { tags: ['slow'] }, async () => {
  await scene(async ({ worker, model, repository, first }) => {
    await repository.commit({ 'one.txt': 'one.txt\n' });
    await database.pool.query(`update pull_requests set state = 'merged' where id = $1`, [first.prId]);
    model.script(call('read', { path: 'one.txt' }), write('two.txt'), finish);
    expect(await worker.followUp(first.id, 'Two')).toMatchObject({ status: 'completed' });
    expect(await changesOf(first.id)).toEqual({ told: [[], ['added two.txt'], []], differ: [false, true, false] });
  });
});

it('what was merged between two turns is no change of the job as of a step without tools', async () => {
  await scene(async ({ worker, model, repository, first }) => {
    await repository.commit({ 'one.txt': 'one.txt\n' });
    await database.pool.query(`update pull_requests set state = 'merged' where id = $1`, [first.prId]);
    model.script({ text: 'It is fine.' });
    await worker.followUp(first.id, 'Is it fine?');
    const timeline = createJobTimelineStore(database.pool);
    const operator = await asOperator(database.pool).of(first.id);
    const changeAt = (turn: number, step: number) => timeline.patchAt(operator, { jobId: first.id, turn, step });
    expect(await changeAt(2, 1)).toBeNull();
    expect(await changeAt(1, 2)).toContain('one.txt');
  });
});
