import { expect, it } from 'vitest';
import { createWorkerImageStore } from '../../../../db/for-worker/job-images.ts';
import { readImage } from '../../../../lib/images/image.ts';
import { buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { filePart, gif, jpeg, pngOf } from '../../../support/sandbox/images.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const prices = JSON.stringify({ 'offline/editor': { images: true } });
const api = ofFile(() => serveApi(database.pool, { DOCKET_MODEL_PRICES: prices }));

const png = pngOf({ width: 40, height: 30 });

async function owner() {
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const path = `/v2/agent/${project.id}/job`;
  const create = (json: object) => api.ask(path, { key, json: { prompt: 'Go', ...json } });
  return { key, path, create };
}

it('stores the images of a prompt and of messages once, and returns them', async () => {
  const { key, path, create } = await owner();
  const created = await create({ images: [filePart(png), filePart(jpeg, 'photo.png')] });
  expect(created.status).toBe(201);
  const job = `${path}/${created.body.id}`;
  const sent = await api.ask(`${job}/message`, {
    key,
    json: { prompt: 'And this', images: [filePart(png, 'again.png')] },
  });
  expect(sent.status).toBe(200);
  const { body } = await api.ask(`${job}/turns`, { key });
  const [turn] = body.turns;
  expect(turn.images).toEqual([
    {
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      mediaType: 'image/png',
      width: 40,
      height: 30,
      name: 'screen.png',
    },
    { hash: expect.any(String), mediaType: 'image/jpeg', width: 1, height: 1, name: 'photo.png' },
  ]);
  expect(turn.messages[0].images).toEqual([{ ...turn.images[0], name: 'again.png' }]);
  const { rows } = await database.pool.query('select hash from job_images where job_id = $1', [created.body.id]);
  expect(rows).toHaveLength(2);

  const image = await fetch(`${api.url}${job}/images/${turn.images[0].hash}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(Buffer.from(await image.arrayBuffer()).equals(png)).toBe(true);
  expect(Object.fromEntries(image.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  for (const hash of ['a'.repeat(64), 'x', turn.images[0].hash.toUpperCase()])
    expect((await api.ask(`${job}/images/${hash}`, { key })).status).toBe(404);
  const other = await owner();
  for (const [asker, at] of [
    [other.key, job],
    [other.key, `${other.path}/${created.body.id}`],
  ] as const)
    expect((await api.ask(`${at}/images/${turn.images[0].hash}`, { key: asker })).status).toBe(404);
  expect(api.log()).not.toContain(png.toString('base64').slice(20, 60));

  expect((await api.ask(job, { key, method: 'DELETE' })).status).toBe(204);
  const left = await database.pool.query('select from job_images where job_id = $1', [created.body.id]);
  expect(left.rowCount).toBe(0);
});

it('repeats no job with the same key, and refuses another image with it', async () => {
  const { key, path } = await owner();
  const ask = (images: object[]) =>
    api.ask(path, { key, json: { prompt: 'Go', images }, headers: { 'Idempotency-Key': 'one' } });
  expect((await ask([filePart(png)])).status).toBe(201);
  expect((await ask([filePart(png)])).status).toBe(200);
  expect((await ask([filePart(gif)])).status).toBe(409);
  expect((await ask([])).status).toBe(409);
});

const bomb = pngOf({ says: { width: 50_000, height: 50_000 } });
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');
it.each<[string, object[], RegExp]>([
  ['a URL', [{ type: 'file', url: 'https://example.com/a.png' }], /must be a data URL/],
  ['a local file', [{ type: 'file', url: 'file:///etc/passwd' }], /must be a data URL/],
  ['an SVG', [filePart(svg, 'a.svg', 'image/svg+xml')], /is no PNG, JPEG, GIF or WebP/],
  ['HTML called PNG', [filePart(Buffer.from('<html>'))], /is no PNG, JPEG, GIF or WebP/],
  ['a decompression bomb', [filePart(bomb)], /is larger than 8000 pixels/],
  ['a damaged image', [filePart(png.subarray(0, 50))], /is damaged/],
  ['no base64', [{ url: 'data:image/png;base64,%%%%' }], /is not in base64/],
  ['too many', Array.from({ length: 6 }, () => filePart(png)), /images/],
  ['another part', [{ type: 'text', url: filePart(png).url }], /images\[0\]\.type/],
])('refuses %s with one sentence', async (_what, images, problem) => {
  const { create } = await owner();
  const { status, body } = await create({ images });
  expect([status, Object.keys(body)]).toEqual([400, ['error']]);
  expect(body.error).toMatch(problem);
  expect(body.error.length).toBeLessThan(300);
});

it('refuses images for a model that cannot see, and sends nothing', async () => {
  const { key, path } = await owner();
  const blind = await api.ask(path, { key, json: { prompt: 'Go', model: 'offline/extract', images: [filePart(png)] } });
  expect(blind).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(/^The model .* cannot see images/) },
  });
});

it('refuses what a job has no room for, and keeps the rest', async () => {
  const { key, path, create } = await owner();
  const { body: job } = await create({});
  const images = createWorkerImageStore(database.pool);
  const stored = await Promise.all(
    Array.from({ length: 22 }, (_, shade) => {
      const read = readImage(pngOf({ shade }));
      if (!('image' in read)) throw new Error(read.problem);
      return images.store(job.id, { ...read.image, name: null });
    }),
  );
  expect(stored.filter((ref) => ref === null)).toHaveLength(2);
  const sent = await api.ask(`${path}/${job.id}/message`, { key, json: { prompt: 'See', images: [filePart(png)] } });
  expect([sent.status, sent.body.error]).toEqual([409, expect.stringMatching(/^A job has at most 20 images/)]);
  expect((await api.ask(`${path}/${job.id}/turns`, { key })).body.turns[0].messages).toEqual([]);
  const first = stored.find((ref) => ref !== null)!;
  expect((await images.read(job.id, [first.hash])).size).toBe(1);
});
