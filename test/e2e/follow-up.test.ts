import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startScriptedModelServer, type ScriptedModelServer } from '../support/servers/scripted-model-server.ts';
import { startTestStack, type TestStack } from '../support/stack/stack.ts';

interface PublicJob {
  id: string;
  status: string;
  prLink: string | null;
  details: { failure: { category: string } | null };
}

let model: ScriptedModelServer;
let stack: TestStack;

beforeAll(async () => {
  model = await startScriptedModelServer();
  stack = await startTestStack({
    env: { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl, DOCKET_SELF_REVIEW: 'off', OPENAI_COMPATIBLE_API_KEY: 'key' },
  });
});
afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await model?.[Symbol.asyncDispose]();
});

async function call(method: string, path: string, body?: unknown): Promise<PublicJob> {
  const { baseUrl, projectId, adminKey } = stack.localJson;
  const response = await fetch(`${baseUrl}/v2/agent/${projectId}/job${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const answer = (await response.json()) as PublicJob;
  expect(response.status, JSON.stringify(answer)).toBeLessThan(300);
  return answer;
}

async function untilEnded(id: string): Promise<PublicJob> {
  for (;;) {
    const job = await call('GET', `/${id}`);
    if (job.status !== 'active') return job;
    await delay(100);
  }
}

const write = { toolCalls: [{ name: 'write', input: { path: 'new.txt', content: 'new\n' } }] };
const finish = { toolCalls: [{ name: 'finish', input: { title: 'Add a file', summary: 'Added.' } }] };
const prompt = { prompt: 'Add a file', model: 'compatible/scripted' };

it('a cancel ends the model call, and a message lets the job continue to its pull request', async () => {
  model.script({ ...write, stall: true });
  const { id } = await call('POST', '', prompt);
  const request = await model.nextRequest();
  const startedMs = performance.now();
  expect(await call('POST', `/${id}/cancel`)).toMatchObject({
    status: 'failed',
    prLink: null,
    details: { failure: { category: 'cancelled' } },
  });
  expect(await request.closed).toBe('aborted');
  process.stdout.write(
    `the call of the model ended ${Math.round(performance.now() - startedMs)} ms after the cancel\n`,
  );

  model.script(write, finish);
  expect(await call('POST', `/${id}/message`, { prompt: 'Go on after all' })).toMatchObject({ status: 'active' });
  await model.nextRequest();
  await model.nextRequest();
  const ended = await untilEnded(id);
  expect(ended).toMatchObject({ status: 'completed', prLink: expect.any(String), details: { failure: null } });
  expect(await call('POST', `/${id}/archive`)).toMatchObject({ status: 'archived', prLink: ended.prLink });
  expect(model.violations).toEqual([]);
});

it('a cancel while Temporal is suspended is answered at once and reaches the worker later', async () => {
  model.script({ ...write, stall: true });
  const { id } = await call('POST', '', prompt);
  const request = await model.nextRequest();
  await stack.pause('temporal');
  try {
    expect(await call('POST', `/${id}/cancel`)).toMatchObject({ status: 'failed' });
  } finally {
    await stack.resume('temporal');
  }
  expect(await request.closed).toBe('aborted');
  expect(await call('GET', `/${id}`)).toMatchObject({ status: 'failed', prLink: null });
});
