import { expect, it } from 'vitest';
import { createJobForkStore } from '../../../../db/jobs/job-forks.ts';
import { newId } from '../../../../db/ids.ts';
import { readImage } from '../../../../lib/images/image.ts';
import { createPriceBook } from '../../../../models/prices.ts';
import { collectJob } from '../../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../../worker/replay/exact-question.ts';
import { operatorOfProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { pngOf } from '../../../support/sandbox/images.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import type { RecordedRequest } from '../../../support/servers/scripted-model-server.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const finish = { name: 'finish', input: { title: 'Edit', summary: 'Edited.' } };
const look = { name: 'read', input: { path: 'docs/chart.png' } };
const chart = pngOf({ width: 30, height: 20, shade: 40 });
const screen = pngOf({ width: 12, height: 9 });
const seeing = { prices: createPriceBook({ 'compatible/scripted': { images: true } }) };

function imageOf(bytes: Buffer, name: string) {
  const read = readImage(bytes);
  if (!('image' in read)) throw new Error(read.problem);
  return { ...read.image, name };
}

/** Returns the images of a request, in base64. */
function imagesIn({ body }: RecordedRequest): string[] {
  return [...JSON.stringify(body.messages).matchAll(/data:image\/png;base64,([A-Za-z0-9+/=]+)/g)].map(
    ([, data]) => data!,
  );
}

it('a model sees the images of prompts, messages and the repository', { tags: 'slow' }, async () => {
  await using database = await createTestDatabase();
  await using stack = await startJobStack({
    database,
    files: { 'README.md': '# Lamp\n', 'docs/chart.png': chart },
    change: () => seeing,
  });
  const { repository, model, worker } = stack;
  model.script({ toolCalls: [look, look] }, { toolCalls: [finish] });
  const images = [imageOf(screen, 'screen.png')];
  const jobId = await worker.createJob({ prompt: 'See this', repository: repository.path, images });
  await worker.startJob(jobId);
  expect(await worker.ended(jobId)).toMatchObject({ status: 'completed' });
  const [first, second] = model.requests;
  expect(imagesIn(first!)).toEqual([screen.toString('base64')]);
  const data = [screen, chart, chart].map((bytes) => bytes.toString('base64'));
  expect(imagesIn(second!)).toEqual(data);
  // the request continues the one before
  expect(second!.body.messages.slice(0, first!.body.messages.length)).toEqual(first!.body.messages);

  const record = (await collectJob(asOperator(database.pool).record(jobId)))!;
  expect(record.steps[0]!.toolResults![0]).toMatchObject({
    output: expect.stringMatching(/^docs\/chart\.png is an image \(PNG, 30 × 20, \d+ B\)\. It follows\.$/),
    image: { mediaType: 'image/png', width: 30, height: 20, name: 'docs/chart.png' },
  });
  for (const step of [1, 2]) expect(exactQuestionOf(record, { turn: 1, step }).match).toBe('exact');
  expect(record.turns[0]!.images).toMatchObject([{ name: 'screen.png' }]);
  const { rows } = await database.pool.query('select hash from job_images where job_id = $1', [jobId]);
  expect(rows).toHaveLength(2);
  // neither the history nor the events contain an image
  const kept = await database.pool.query(
    'select encode(history, $1) as text from job_histories union all select data::text from job_events',
    ['escape'],
  );
  expect(JSON.stringify(kept.rows)).not.toContain(data[0]!.slice(30, 80));

  // a fork has its own copies, also when the first job is gone
  const { projectId } = (await worker.deps.jobs.get(jobId))!;
  const caller = await operatorOfProject(database.pool, projectId);
  const id = newId('job_');
  const from = { jobId, turn: 1, step: 1 };
  await createJobForkStore(database.pool).fork(caller, { id, from, models: null, prompt: 'Again', idempotency: null });
  await database.pool.query('delete from jobs where id = $1', [jobId]);
  model.requests.length = 0;
  model.script({ toolCalls: [finish] });
  await worker.startJob(id);
  expect(await worker.ended(id)).toMatchObject({ status: 'completed' });
  expect(imagesIn(model.requests[0]!)).toEqual(data);
  expect(model.violations).toEqual([]);
});

it('a model that cannot see gets sentences', { tags: 'slow' }, async () => {
  await using database = await createTestDatabase();
  await using stack = await startJobStack({
    database,
    files: {
      'docs/chart.png': chart,
      'docs/bad.png': chart.subarray(0, 40),
    },
  });
  const { repository, model, worker } = stack;
  const bad = { name: 'read', input: { path: 'docs/bad.png' } };
  model.script({ toolCalls: [look, bad] }, { toolCalls: [finish] });
  const images = [imageOf(screen, 'screen.png')];
  const jobId = await worker.createJob({ prompt: 'See this', repository: repository.path, images });
  await worker.startJob(jobId);
  expect(await worker.ended(jobId)).toMatchObject({ status: 'completed' });
  const sent = JSON.stringify(model.requests.at(-1)!.body.messages);
  expect(sent).toContain('[screen.png (PNG, 12 × 9) is not shown, because this model cannot see images.]');
  expect(sent).toMatch(
    /docs\/chart\.png is an image \(PNG, 30 × 20, \d+ B\), and the model of this job cannot see images\./,
  );
  expect(sent).toContain('docs/bad.png is an image that cannot be shown: it is damaged.');
  expect(model.requests.flatMap(imagesIn)).toEqual([]);
});

it('a provider that refuses an image ends no job', { tags: 'slow' }, async () => {
  await using database = await createTestDatabase();
  await using stack = await startJobStack({ database, files: { 'docs/chart.png': chart }, change: () => seeing });
  const { repository, model, worker } = stack;
  model.script({ toolCalls: [look] }, { status: 400 }, { toolCalls: [finish] });
  const jobId = await worker.createJob({ prompt: 'Look', repository: repository.path });
  await worker.startJob(jobId);
  expect(await worker.ended(jobId)).toMatchObject({ status: 'completed' });
  expect(model.requests.map((request) => imagesIn(request).length)).toEqual([0, 1, 0]);
  expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain("the model's provider refused the request");
  const record = (await collectJob(asOperator(database.pool).record(jobId)))!;
  for (const step of [1, 2]) expect(exactQuestionOf(record, { turn: 1, step }).match).toBe('exact');
});
