import { expect, it } from 'vitest';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

// each response is checked against its description, including the maximum length of each list
const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const project = ofFile(() => buildProject(database.pool));
const admin = ofFile(() => buildKey(database.pool, project));
/** More items than any list may have. */
const many = 1_100;

const query = (text: string, values: unknown[] = []) => database.pool.query(text, values);

async function ask(path: string) {
  const { status, body } = await api.ask(path, { key: admin.key });
  expect(status).toBe(200);
  return body;
}

/** The ids of all pages, and the size of each page. */
async function walk(path: string, name: string): Promise<{ ids: string[]; lengths: number[] }> {
  const ids: string[] = [];
  const lengths: number[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const body: any = await ask(`${path}${cursor === '' ? '' : `?cursor=${cursor}`}`);
    ids.push(...body[name].map(({ id }: { id: string }) => id));
    lengths.push(body[name].length);
    cursor = body.nextCursor;
  }
  return { ids, lengths };
}

it('returns what an organization has in pages, and offers a bounded choice of it', async () => {
  const values = [project.organizationId, many];
  // many at the same instant: the cursor has to distinguish them
  await query(
    `insert into projects (id, organization_id, name, repository, forge, created_at)
     select 'prj_' || n, $1, 'p', 'https://github.com/acme/p' || n, 'github', now() - (n / 7) * interval '1 second'
     from generate_series(1, $2) as n`,
    values,
  );
  await query(
    `insert into sites (id, organization_id, domain, directory) select 'site_' || n, $1, 'd' || n, '/docs'
     from generate_series(1, $2) as n`,
    values,
  );
  await query(
    `insert into api_keys (id, organization_id, kind, digest) select 'key' || n, $1, 'assistant', ''
     from generate_series(1, $2) as n`,
    values,
  );
  for (const [name, more] of [
    ['projects', 1],
    ['sites', 0],
    ['keys', 1],
  ] as const) {
    const { ids, lengths } = await walk(`/v1/${name}`, name);
    expect(new Set(ids).size).toBe(many + more);
    expect(ids).toHaveLength(many + more);
    expect(lengths).toEqual([...Array.from({ length: 11 }, () => 100), ...(more === 0 ? [] : [more])]);
  }
  const { projects, assistant } = await ask('/v1/usage');
  expect([projects.length, assistant.keys.length]).toEqual([200, 200]);
});

it('offers a session a bounded choice', async () => {
  const { headers } = await api.ask('/v1/session', { json: { key: admin.key } });
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
  const { body } = await api.ask('/v1/session', { headers: { cookie } });
  expect([body.projects.length, body.sites.length]).toEqual([1_000, 1_000]);
});

it('lists a bounded number of workers, and counts them all', async () => {
  await query(
    `insert into workers (id, host, pid, version, started_at) select 'w' || n, 'h', n, 'v', now() from generate_series(1, $1) as n`,
    [many],
  );
  const { workers, workerCount } = await ask('/v1/operations');
  expect([workers.length, workerCount]).toEqual([1_000, many]);
});

async function storeSteps(jobId: string, step: { count: number; calls: number; characters: number }) {
  await query(
    `insert into job_steps (job_id, turn, step, response, tool_results)
     select $1, 1, n, jsonb_build_object('content', '[]'::jsonb, 'text', repeat('w', $4), 'toolCalls', calls), results
     from generate_series(1, $2) as n, (
       select jsonb_agg(jsonb_build_object('toolCallId', 'c' || c, 'toolName', 'write', 'input',
                                           jsonb_build_object('path', 'a.txt', 'content', repeat('ä', $4)))) as calls,
              jsonb_agg(jsonb_build_object('toolCallId', 'c' || c, 'toolName', 'write', 'isError', false,
                                           'output', repeat('ö', $4))) as results
       from generate_series(1, $3) as c
     ) as made`,
    [jobId, step.count, step.calls, step.characters],
  );
}

async function walkSteps(path: string): Promise<{ pages: any[][]; largest: number }> {
  const pages: any[][] = [];
  let largest = 0;
  for (let after: string | null = '0.0'; after !== null;) {
    const body: any = await ask(`${path}/steps?limit=100&after=${after}`);
    pages.push(body.steps);
    largest = Math.max(largest, Buffer.byteLength(JSON.stringify(body)));
    after = body.nextAfter;
  }
  return { pages, largest };
}

it(
  'reads a bounded number of bytes for a page of steps, and all steps across all pages',
  { tags: ['slow'] },
  async () => {
    const job = await buildJob(database.pool, project);
    await storeSteps(job.id, { count: 30, calls: 20, characters: 20_001 });
    const path = `/v2/agent/${project.id}/job/${job.id}`;
    const { pages, largest } = await walkSteps(path);
    expect(pages.flat().map(({ step }) => step)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    expect(pages.length).toBeGreaterThan(3);
    expect(largest).toBeLessThan(3_000_000);
    const [{ text, toolCalls }] = pages.flat();
    expect(text).toHaveLength(20_000);
    expect(toolCalls[0]).toMatchObject({ output: 'ö'.repeat(4_000), characters: 20_001 });
    expect(toolCalls[0].input).toMatch(/^\{"path": "a.txt", "content": "ä+$|^\{"content": "ä+$/);
    expect(toolCalls[0].input).toHaveLength(4_000);
    const whole = await ask(`${path}/steps/1/1`);
    expect(whole.toolCalls[0]).toMatchObject({ output: 'ö'.repeat(20_001), input: { path: 'a.txt' } });
  },
);

it('shows a bounded number of tool calls of a step', async () => {
  const job = await buildJob(database.pool, project);
  await storeSteps(job.id, { count: 1, calls: 150, characters: 10 });
  const { pages } = await walkSteps(`/v2/agent/${project.id}/job/${job.id}`);
  expect(pages.flat()[0].toolCalls).toHaveLength(100);
});

it('pages the turns of a job, and accepts a bounded number of messages per turn', async () => {
  const job = await buildJob(database.pool, project);
  const path = `/v2/agent/${project.id}/job/${job.id}`;
  await query(
    `insert into job_turns (job_id, turn, prompt) select $1, n, repeat('p', 90000) from generate_series(2, 130) as n`,
    [job.id],
  );
  const turns: number[] = [];
  const lengths: number[] = [];
  for (let after: number | null = 0; after !== null;) {
    const body: any = await ask(`${path}/turns?after=${after}`);
    turns.push(...body.turns.map(({ turn }: { turn: number }) => turn));
    lengths.push(body.turns.length);
    after = body.nextAfter;
  }
  expect(turns).toEqual(Array.from({ length: 130 }, (_, at) => at + 1));
  expect(Math.max(...lengths)).toBeLessThan(25);

  await query(
    `insert into job_messages (job_id, turn, position, prompt) select $1, 1, n, 'm' from generate_series(1, 99) as n`,
    [job.id],
  );
  const say = async (prompt: string) => (await api.ask(`${path}/message`, { key: admin.key, json: { prompt } })).status;
  expect([await say('one more'), await say('too many')]).toEqual([200, 409]);
  await query(`delete from job_messages where job_id = $1`, [job.id]);
  const long = 'x'.repeat(100_000);
  expect([await say(long), await say(long), await say(long), await say(long), await say(long)]).toEqual(
    Array.from({ length: 5 }, () => 200),
  );
  expect(await say('x')).toBe(409);
});

it('shows the newest commits of a pull request', async () => {
  const job = await buildJob(database.pool, project, { status: 'completed' });
  await query(`insert into job_turns (job_id, turn, prompt) select $1, n, 'p' from generate_series(2, 120) as n`, [
    job.id,
  ]);
  await query(
    `insert into job_effects (job_id, turn, effect, result)
     select $1, n, 'push', jsonb_build_object('commit', 'c' || n) from generate_series(1, 120) as n`,
    [job.id],
  );
  await query(
    `insert into pull_requests (id, repository, number, head, base, title, body) values ('pr_many', '/r', 1, 'h', 'b', 't', '')`,
  );
  await query(`update jobs set pr_id = 'pr_many', pr_state = 'open' where id = $1`, [job.id]);
  const { commits } = await ask('/v1/pull-requests/pr_many');
  expect(commits.map(({ turn }: { turn: number }) => turn)).toEqual(Array.from({ length: 100 }, (_, at) => at + 21));
});
