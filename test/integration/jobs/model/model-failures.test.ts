import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../support/database/database.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const startStack = () => startJobStack({ database });

const done = { text: 'Nothing to do.' };

describe('a model that refuses', () => {
  async function expectRefusal(status: number, sentence: string): Promise<void> {
    await using stack = await startStack();
    stack.model.script({ status, errorMessage: 'secret words of the provider' });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused', prLink: null });
    expect(job.message).toContain(`The model provider ${sentence}`);
    expect(job.message).not.toContain('secret words');
    expect(stack.model.requests).toHaveLength(1);
  }

  it.each([
    [401, 'rejected the request with status 401. Check the API key.'],
    [308, 'redirects to another address. Check its base URL.'],
  ])('with %d fails the job at once, and says what to check', expectRefusal);
  it.each([
    [400, 'rejected the request with status 400.'],
    [404, 'rejected the request with status 404. Check the name of the model and the base URL.'],
  ])('with %d fails the job at once, and says what to check', { tags: 'slow' }, expectRefusal);

  it('leaves none of the model’s error text in Temporal’s history', async () => {
    await using stack = await startStack();
    stack.model.script({ status: 401, errorMessage: 'secret words of the provider' });
    const { id } = await stack.worker.runJob(stack.job);
    await recordHistory('model-refused', stack.worker.client.workflow.getHandle(`agent-job/${id}`));
    const { events } = await stack.worker.client.workflow.getHandle(`agent-job/${id}`).fetchHistory();
    const text = JSON.stringify(events, (_, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(text).toContain('model_refused');
    expect(text).not.toContain('secret words');
    expect(text).not.toContain('model-key-0123456789');
  });

  it('that spends its output limit on reasoning is asked twice, and says what to change', async () => {
    await using stack = await startStack();
    stack.model.respondWith({ reasoning: 'Hm', text: '', finishReason: 'length' });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    expect(job.message).toContain('Raise maxOutputTokens, lower reasoningEffort');
    expect(stack.model.requests).toHaveLength(2);
  });

  it('is named when the worker has no key for it', async () => {
    await using stack = await startStack();
    const job = await stack.worker.runJob({ ...stack.job, model: 'openai/gpt' });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    expect(job.message).toContain('OPENAI_API_KEY');
  });
});

describe('a model in trouble', () => {
  it('is retried after its Retry-After', async () => {
    await using stack = await startStack();
    stack.model.script({ status: 429, retryAfter: 2 }, done);
    const first = stack.model.nextRequest().then(() => performance.now());
    const job = stack.worker.runJob(stack.job);
    const begun = await first;
    await stack.model.nextRequest();
    expect(performance.now() - begun).toBeGreaterThan(1_900);
    expect(await job).toMatchObject({ status: 'completed', message: done.text });
  });

  it('is retried after a 500, half a reply and a cut connection', { tags: ['slow'] }, async () => {
    await using stack = await startStack();
    stack.model.script({ status: 500 }, { ...done, cut: true }, { status: 529 }, done);
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed', message: done.text });
    expect(stack.model.requests).toHaveLength(4);
  });

  it('that stays down fails the job with its own category', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    stack.model.respondWith({ status: 503 });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_unavailable' });
    expect(stack.model.requests).toHaveLength(8);
  });

  it('that does not exist fails the job, too', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    await stack.model[Symbol.asyncDispose]();
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_unavailable' });
  });
});

describe('a tool call that does not parse', () => {
  it('is answered as an error, so that the model can repair it', async () => {
    await using stack = await startStack();
    stack.model.script(
      { toolCalls: [{ name: 'write', rawArguments: '{"path": "a.txt", "content": ' }] },
      { toolCalls: [{ name: 'fly', input: { to: 'moon' } }] },
      { toolCalls: [{ name: 'write', input: { path: 7 } }] },
      { toolCalls: [{ name: 'write', input: { path: 'a.txt', content: 'a\n' } }] },
      { toolCalls: [{ name: 'finish', input: { title: 'Add a', summary: 'Added.' } }] },
    );
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', title: 'Add a' });
    expect(await stack.repository.read(job.headCommit!)).toMatchObject({ 'a.txt': '100644 a' });
    const answers = stack.model.requests[3]!.body.messages.filter(({ role }) => role === 'tool');
    expect(answers.map(({ content }) => String(content))).toEqual([
      expect.stringContaining('JSON'),
      expect.stringContaining('fly'),
      expect.stringContaining('path'),
    ]);
    expect(stack.model.violations).toEqual([]);
  });
});

describe('a limit', () => {
  const look = { toolCalls: [{ name: 'list', input: {} }], usage: { inputTokens: 90, outputTokens: 10 } };

  it('of steps ends the job after the last one', async () => {
    await using stack = await startStack();
    stack.model.respondWith(look);
    const job = await stack.worker.runJob(stack.job, { maxSteps: 3 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'step_limit', steps: 3 });
    await recordHistory('step-limit', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
    expect(stack.model.requests).toHaveLength(3);
  });

  it('of tokens is exceeded by at most one call', async () => {
    await using stack = await startStack();
    stack.model.respondWith(look);
    const job = await stack.worker.runJob(stack.job, { maxTokens: 150 });
    expect(job).toMatchObject({
      status: 'failed',
      failureCategory: 'budget_limit',
      inputTokens: 180,
      outputTokens: 20,
    });
  });

  it('of time ends a model call that hangs', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    stack.model.script({ ...done, stall: true });
    const job = await stack.worker.runJob(stack.job, { maxDurationMs: 3_000 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'time_limit' });
    await recordHistory('time-limit', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
  });
});

describe('a cancel', () => {
  it('ends the job, aborts the model call and publishes nothing', async () => {
    await using stack = await startStack();
    stack.model.script({ ...done, stall: true });
    const id = await stack.worker.createJob(stack.job);
    await stack.worker.startJob(id);
    const request = await stack.model.nextRequest();
    await stack.worker.client.workflow.getHandle(`agent-job/${id}`).cancel();
    expect(await stack.worker.ended(id)).toMatchObject({
      status: 'failed',
      failureCategory: 'cancelled',
      prLink: null,
    });
    expect(await request.closed).toBe('aborted');
    await recordHistory('cancelled', stack.worker.client.workflow.getHandle(`agent-job/${id}`));
    expect(await stack.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});
