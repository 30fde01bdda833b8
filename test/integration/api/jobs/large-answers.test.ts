import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { holdOf } from '../../../support/database/hold-of.ts';
import { serveApi, type ServedApi } from '../serve.ts';

// large responses block the API's event loop for at most 50 ms each
const shared = {} as { database: TestDatabase; api: ServedApi; key: string; project: string; job: string };

beforeAll(async () => {
  shared.database = await createTestDatabase();
  const { pool } = shared.database;
  shared.api = await serveApi(pool);
  const project = await buildProject(pool);
  const job = await buildJob(pool, project, { prompt: 'x' });
  shared.key = (await buildKey(pool, project)).key;
  shared.project = `/v2/agent/${project.id}`;
  shared.job = `${shared.project}/job/${job.id}`;
  // outputs of 512 KB per step, and a long text of the model
  await pool.query(
    `insert into job_steps (job_id, turn, step, fence, response, tool_results, tree, patch)
     select $1, 1, step, 1,
            jsonb_build_object('content', '[]'::jsonb, 'text', repeat('ü"\\', 30000), 'toolCalls', calls), results, 'tree',
            repeat(E'+\n', 500000)
     from generate_series(1, 30) as step, (
       select jsonb_agg(jsonb_build_object('toolCallId', 'c' || n, 'toolName', 'read', 'input', '{"path":"a"}'::jsonb)) as calls,
              jsonb_agg(jsonb_build_object('toolCallId', 'c' || n, 'toolName', 'read', 'output', repeat(E'ü"\\n', 12500), 'isError', false)) as results
       from generate_series(1, 10) as n
     ) as parts`,
    [job.id],
  );
  await pool.query(`update jobs set base_commit = 'base', steps = 30 where id = $1`, [job.id]);
  await pool.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files)
     values ($1, 'tree', 'c', 'base', '', repeat('+ü', 1700000), 1),
            ($1, 'escaped', 'c', 'base', '', repeat(E'+\u0001', 2500000), 1)`,
    [job.id],
  );
}, 60_000);

afterAll(async () => {
  await shared.api?.[Symbol.asyncDispose]();
  await shared.database?.[Symbol.asyncDispose]();
});

/** Reads a response without parsing it; returns its length in bytes. */
async function lengthOf(path: string): Promise<number> {
  const request = get(`${shared.api.url}${path}`, { headers: { authorization: `Bearer ${shared.key}` }, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  expect([path, response.statusCode]).toEqual([path, 200]);
  let length = 0;
  for await (const chunk of response) length += chunk.length;
  return length;
}

it.each([
  ['a page of steps', '/steps?limit=100', 1e6],
  ['a step', '/steps/1/30', 5e5],
  ['a diff', '/diff', 5e6],
  ['a bundle', '/bundle', 1e4],
])('for %s', { tags: ['slow'] }, async (_name, path, least) => {
  expect(await lengthOf(shared.job + path)).toBeGreaterThan(least);
  expect(await holdOf(() => lengthOf(shared.job + path))).toBe(0);
});
