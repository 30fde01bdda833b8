import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  startScriptedModelServer,
  type RecordedRequest,
  type ScriptedModelServer,
} from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-wire.ts';
import { startTestStack, type TestStack } from '../../support/stack/stack.ts';

interface PublicJob {
  id: string;
  status: string;
  prLink: string | null;
  details: { failure: unknown; steps: number };
}

let model: ScriptedModelServer;
let stack: TestStack;
let pool: Pool;
/** Requests for a step whose answer was already stored when they arrived. */
let repeated: number[] = [];

beforeAll(async () => {
  model = await startScriptedModelServer();
  stack = await startTestStack({
    env: { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl, DOCKET_SELF_REVIEW: 'off', OPENAI_COMPATIBLE_API_KEY: 'key' },
  });
  pool = new Pool({ connectionString: stack.localJson.databaseUrl, max: 3 });
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool?.end();
  await stack?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  repeated = [];
  model.respondWith(null);
});

async function call(method: string, path: string, body?: unknown): Promise<PublicJob> {
  const { baseUrl, projectId, adminKey } = stack.localJson;
  const response = await fetch(`${baseUrl}/v2/agent/${projectId}${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = (await response.json()) as PublicJob;
  expect(response.status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
}

function createJob(): Promise<PublicJob> {
  return call('POST', '/job', { prompt: 'Write five files', model: 'compatible/scripted' });
}

async function untilEnded(id: string): Promise<PublicJob> {
  for (;;) {
    const job = await call('GET', `/job/${id}`);
    if (job.status !== 'active') return job;
    await delay(100);
  }
}

/** Waits until a query about the job returns a row. */
async function untilRow(id: string, condition: string): Promise<void> {
  for (;;) {
    const { rowCount } = await pool.query(`select from jobs where id = $1 and ${condition}`, [id]);
    if (rowCount === 1) return;
    await delay(5);
  }
}

function answered(steps: number): string {
  return `(select count(*) from job_steps where job_id = jobs.id and response is not null) >= ${steps}`;
}

/** Five steps that each write a file, then the end; records requests whose answer was already stored. */
async function replyTo(request: RecordedRequest): Promise<ScriptedReply> {
  const step = request.body.messages.filter(({ role }) => role === 'assistant').length + 1;
  const { rowCount } = await pool.query(
    `select from job_steps join jobs on jobs.id = job_id
     where jobs.status = 'active' and step = $1 and response is not null`,
    [step],
  );
  if (rowCount !== 0) repeated.push(step);
  if (step > 5) return { toolCalls: [{ name: 'finish', input: { title: 'Write files', summary: 'Five.' } }] };
  return { toolCalls: [{ name: 'write', input: { path: `file-${step}.txt`, content: `${step}\n` } }] };
}

async function expectOnePullRequest(job: PublicJob): Promise<void> {
  expect(job).toMatchObject({ status: 'completed', details: { failure: null, steps: 6 } });
  expect(job.prLink).not.toBeNull();
  const { rows } = await pool.query(`select id from pull_requests where head like $1`, [`docket/${job.id}-%`]);
  expect(rows).toEqual([{ id: job.prLink!.split('/').at(-1) }]);
  const diff = await fetch(`${stack.localJson.baseUrl}/v2/agent/${stack.localJson.projectId}/job/${job.id}/diff`, {
    headers: { authorization: `Bearer ${stack.localJson.adminKey}` },
  });
  expect((await diff.text()).match(/^diff --git .*$/gm)).toHaveLength(5);
  expect(repeated).toEqual([]);
  expect(model.violations).toEqual([]);
}

it(
  'a job whose first model is down asks the other one at most once more when its worker is killed',
  { tags: 'slow' },
  async () => {
    const asked: string[] = [];
    let isFirst = true;
    model.respondWith(async (request) => {
      asked.push(request.body.model);
      if (request.body.model === 'gone') return { status: 404 };
      const reply = await replyTo(request);
      if (!isFirst) return reply;
      isFirst = false;
      await stack.kill('worker');
      return reply;
    });
    const models = ['compatible/gone', 'compatible/scripted'];
    const { id } = await call('POST', '/job', { prompt: 'Write five files', models });
    await expectOnePullRequest(await untilEnded(id));
    expect(asked.filter((name) => name === 'gone')).toHaveLength(1);
    expect(asked.filter((name) => name === 'scripted')).toHaveLength(6 + 1);
    const { rows } = await pool.query('select distinct model from job_steps where job_id = $1', [id]);
    expect(rows).toEqual([{ model: 'compatible/scripted' }]);
  },
);

it('a job survives the kill of its worker in the middle of a model call', async () => {
  let isFirst = true;
  model.respondWith(async (request) => {
    const reply = await replyTo(request);
    const isThird = request.body.messages.filter(({ role }) => role === 'assistant').length === 2;
    if (!isThird || !isFirst) return reply;
    isFirst = false;
    await stack.kill('worker');
    return reply;
  });
  await expectOnePullRequest(await untilEnded((await createJob()).id));
});

it('a job survives kills right after answers were stored', async () => {
  model.respondWith(replyTo);
  const { id } = await createJob();
  await untilRow(id, answered(1));
  await stack.killAndWait('worker');
  await untilRow(id, answered(4));
  await stack.killAndWait('worker');
  await expectOnePullRequest(await untilEnded(id));
});

it('a job survives the kill of its worker while it publishes', async () => {
  model.respondWith(replyTo);
  const { id } = await createJob();
  await untilRow(id, `(phase = 'publishing' or status <> 'active')`);
  await stack.killAndWait('worker');
  await expectOnePullRequest(await untilEnded(id));
});

it('a job can be read while the worker and Temporal are stopped, and one created meanwhile starts when they return', async () => {
  model.respondWith(replyTo);
  const before = await createJob();
  await untilEnded(before.id);
  await stack.pause('worker');
  await stack.pause('temporal');
  let created: PublicJob;
  try {
    expect(await call('GET', `/job/${before.id}`)).toMatchObject({ status: 'completed', prLink: expect.any(String) });
    created = await createJob();
    expect(await call('GET', `/job/${created.id}`)).toMatchObject({ status: 'active', prLink: null });
  } finally {
    await stack.resume('temporal');
    await stack.resume('worker');
  }
  await expectOnePullRequest(await untilEnded(created.id));
});
