import { describe, expect, it } from 'vitest';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi, type Answer } from '../serve.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';
import { ofFile } from '../../../support/of-file.ts';

const limit = 3;
const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_JOBS_PER_HOUR: String(limit) }));

interface Scene {
  project: ProjectRow;
  key: string;
  /** A running job with a step to fork from. */
  jobId: string;
}

async function createScene(): Promise<Scene> {
  const { pool } = database;
  const project = await buildProject(pool);
  const { id: jobId } = await buildJob(pool, project);
  await pool.query(
    `insert into job_steps (job_id, turn, step, request_hash, response, finish_reason)
     values ($1, 1, 1, 'x', '{"toolCalls": []}', 'stop')`,
    [jobId],
  );
  return { project, key: (await buildKey(pool, project)).key, jobId };
}

/** The limited operations: the path, the allowance that is used, and the body. */
const resources = {
  job: { path: () => '/job', allowance: 'job', created: 201, body: (prompt: unknown) => ({ prompt }) },
  message: {
    path: ({ jobId }: Scene) => `/job/${jobId}/message`,
    allowance: 'message',
    created: 200,
    body: (prompt: unknown) => ({ prompt }),
  },
  fork: {
    path: ({ jobId }: Scene) => `/job/${jobId}/fork`,
    allowance: 'job',
    created: 201,
    body: (prompt: unknown) => ({ prompt, step: 1 }),
  },
} as const;
type Resource = keyof typeof resources;
const names: Resource[] = ['job', 'message', 'fork'];

function send(scene: Scene, resource: Resource, prompt: unknown, idempotencyKey?: string): Promise<Answer> {
  const { path, body } = resources[resource];
  return api.ask(`/v2/agent/${scene.project.id}${path(scene)}`, {
    key: scene.key,
    json: body(prompt),
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  });
}

const remainingOf = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
const isReplay = ({ headers }: Answer) => headers.get('idempotent-replay') === 'true';

describe('an allowance', () => {
  it('is used only by what is actually done, in whatever order requests arrive', async () => {
    const request = fc.record({
      resource: fc.constantFrom(...names),
      kind: fc.constantFrom('new', 'keyed', 'keyed', 'repeat', 'repeat', 'conflict', 'invalid'),
      pick: fc.nat(100),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 25 }), async (requests) => {
        const scene = await createScene();
        const left = { job: limit, message: limit };
        const done: { resource: Resource; key: string; prompt: string; id: string }[] = [];
        for (const [at, { resource, kind, pick }] of requests.entries()) {
          const { allowance, created } = resources[resource];
          const own = done.filter((one) => one.resource === resource);
          const earlier = own[pick % Math.max(1, own.length)];
          const label = `${at}: ${kind} ${resource}`;
          if (kind === 'invalid') {
            expect((await send(scene, resource, 7, `key ${at}`)).status, label).toBe(400);
            continue;
          }
          if (kind === 'repeat' || kind === 'conflict') {
            if (earlier === undefined) continue;
            const isRepeat = kind === 'repeat';
            const answer = await send(scene, resource, isRepeat ? earlier.prompt : 'another', earlier.key);
            expect([answer.status, isReplay(answer)], label).toEqual(isRepeat ? [200, true] : [409, false]);
            if (isRepeat) expect(answer.body.id).toBe(earlier.id);
            continue;
          }
          const key = kind === 'keyed' ? `key ${at}` : undefined;
          const answer = await send(scene, resource, `prompt ${at}`, key);
          expect([answer.status, isReplay(answer)], label).toEqual([left[allowance] > 0 ? created : 429, false]);
          if (left[allowance] > 0) {
            left[allowance] -= 1;
            if (key !== undefined) done.push({ resource, key, prompt: `prompt ${at}`, id: answer.body.id });
          }
          expect([remainingOf(answer), answer.headers.has('retry-after')], label).toEqual([
            left[allowance],
            answer.status === 429,
          ]);
        }
      }),
      { numRuns: propertyRuns(15) },
    );
  });

  it.each(names)(
    'counts one %s for many simultaneous requests with one key, and answers them all',
    async (resource) => {
      const scene = await createScene();
      for (let used = 1; used < limit; used += 1) await send(scene, resource, 'x');
      const same = await Promise.all(Array.from({ length: 8 }, () => send(scene, resource, 'same', 'one key')));
      expect(same.filter((answer) => !isReplay(answer)).map(({ status }) => status)).toEqual([
        resources[resource].created,
      ]);
      expect(new Set(same.map(({ body }) => body.id)).size).toBe(1);
      const others = await Promise.all(Array.from({ length: 8 }, (_, at) => send(scene, resource, `${at}`, 'one key')));
      expect(new Set(others.map(({ status }) => status))).toEqual(new Set([409]));
      expect((await send(scene, resource, 'x')).status).toBe(429);
      const again = await send(scene, resource, 'same', 'one key');
      expect([again.status, isReplay(again), again.body.id]).toEqual([200, true, same[0]!.body.id]);
    },
  );

  it.each(['job', 'fork'] as const)(
    'returns the first answer to a repeated %s even after its model is gone',
    async (resource) => {
      const scene = await createScene();
      const first = await send(scene, resource, 'x', 'one key');
      expect(first.status).toBe(201);
      await database.pool.query(`update projects set model = 'gone/model' where id = $1`, [scene.project.id]);
      await database.pool.query(`update jobs set model = 'gone/model' where id = $1`, [scene.jobId]);
      const again = await send(scene, resource, 'x', 'one key');
      expect([again.status, isReplay(again), again.body.id]).toEqual([200, true, first.body.id]);
      expect((await send(scene, resource, 'y', 'one key')).status).toBe(409);
      for (let count = 0; count < limit + 1; count += 1) expect((await send(scene, resource, 'z')).status).toBe(400);
      await database.pool.query(`update projects set model = null where id = $1`, [scene.project.id]);
      expect(remainingOf(await send(scene, 'job', 'z'))).toBe(limit - 2);
    },
  );
});
