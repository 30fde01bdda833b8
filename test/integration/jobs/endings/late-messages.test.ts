import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../support/database/database.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import type { ReplyMaker } from '../../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../../support/servers/scripted-model-wire.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import type { TestWorkerOptions } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const write = (path: string): ScriptedReply => ({
  toolCalls: [{ name: 'write', input: { path, content: `${path}\n` } }],
});
const finish = (summary: string): ScriptedReply => ({
  toolCalls: [{ name: 'finish', input: { title: 'Write files', summary, complete: true } }],
});
const say = (jobId: string, prompt = 'And two') => asOperator(database.pool).send({ jobId, prompt, idempotency: null });

/** Sends messages to the job of a publication once its pull request is stored. */
const sayingAfterPublish =
  (...prompts: string[]): TestWorkerOptions['change'] =>
  ({ jobs }) => ({
    jobs: {
      ...jobs,
      async setPublished(ref) {
        const result = await jobs.setPublished(ref);
        for (let [prompt] = prompts; prompt !== undefined; [prompt] = prompts) {
          await say(ref.jobId, prompt);
          prompts.shift();
        }
        return result;
      },
    },
  });

const startStack = (change?: TestWorkerOptions['change']) => startJobStack({ database, prompt: 'Write one', change });

async function newestJob(): Promise<{ id: string }> {
  const { rows } = await database.pool.query('select id from jobs order by created_at desc limit 1');
  return rows[0];
}

async function turnsOf(jobId: string) {
  const { rows } = await database.pool.query(
    'select turn, status, prompt from job_turns where job_id = $1 order by turn',
    [jobId],
  );
  return rows;
}

describe('a message that arrives too late for the limits of its turn', () => {
  it('begins the next turn when the work is published', async () => {
    await using stack = await startStack(sayingAfterPublish('And two', 'And three'));
    stack.model.script(write('one.txt'), finish('One.'));
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'active', phase: 'queued', turn: 2, waitingMessages: 1 });
    expect(job).toMatchObject({ prDraft: false, incomplete: null, failureCategory: null });
    expect(await turnsOf(job.id)).toEqual([
      { turn: 1, status: 'completed', prompt: 'Write one' },
      { turn: 2, status: 'active', prompt: 'And two' },
    ]);
    await recordHistory('message-at-limit', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
    stack.model.script(write('two.txt'), finish('Two.'));
    await stack.worker.startJob(job.id, {}, 2);
    expect(await stack.worker.ended(job.id, 2)).toMatchObject({ status: 'completed', turn: 2, waitingMessages: 0 });
    const asked = JSON.stringify(stack.model.requests[2]!.body.messages);
    expect(asked.match(/And two/g)).toHaveLength(1);
    expect(asked.match(/And three/g)).toHaveLength(1);
    expect(stack.model.violations).toEqual([]);
  });

  /** Sends a message while the model makes this answer. */
  const during =
    (reply: ScriptedReply): ReplyMaker =>
    async () => {
      await say((await newestJob()).id);
      return reply;
    };

  it.each([
    ['in its last call', [during(finish('One.'))], 2],
    ['in the call before its last', [during(finish('One.'))], 3],
    ['after it came before the last call', [during(write('more.txt')), finish('One.')], 3],
  ])('begins the next turn when the agent finishes %s', async (_, replies, maxSteps) => {
    await using stack = await startStack();
    stack.model.script(write('one.txt'), ...replies);
    const job = await stack.worker.runJob(stack.job, { maxSteps });
    expect(job).toMatchObject({ status: 'active', turn: 2, prDraft: false, incomplete: null, waitingMessages: 0 });
    expect(await turnsOf(job.id)).toMatchObject([{ status: 'completed' }, { prompt: 'And two' }]);
    expect(JSON.stringify(stack.model.requests.map(({ body }) => body))).not.toContain('And two');
    expect(stack.model.violations).toEqual([]);
  });

  it.each([
    ['with words', during({ text: 'Some.' })],
    ['with work', during(write('more.txt'))],
  ])('begins the next turn when the agent ends %s at the limit', async (_, reply) => {
    await using stack = await startStack();
    stack.model.script(write('one.txt'), reply);
    const job = await stack.worker.runJob(stack.job, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'active', turn: 2, prDraft: true, waitingMessages: 0 });
    expect(await turnsOf(job.id)).toMatchObject([{ status: 'failed' }, { prompt: 'And two' }]);
    const { events } = await asOperator(database.pool).events(job.id);
    expect(events.slice(-2)).toMatchObject([
      {
        turn: 1,
        type: 'failure',
        data: { category: 'step_limit', message: expect.stringContaining('limit of 2 steps') },
      },
      { turn: 2, type: 'phase', data: { phase: 'queued' } },
    ]);
  });

  it('begins the next turn when a stopped turn is published', async () => {
    await using stack = await startStack(sayingAfterPublish('And two'));
    stack.model.script(write('one.txt'), { status: 400 });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'active', turn: 2, prDraft: true, waitingMessages: 0, failureCategory: null });
    expect(await turnsOf(job.id)).toMatchObject([{ status: 'failed' }, { prompt: 'And two' }]);
  });

  it('begins the next turn when the call that read it gets no answer', async () => {
    await using stack = await startStack();
    stack.model.script(during(write('one.txt')), { status: 400 });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'active', turn: 2, prDraft: true, waitingMessages: 0, failureCategory: null });
    expect(await turnsOf(job.id)).toMatchObject([{ status: 'failed' }, { prompt: 'And two' }]);
    stack.model.script({ status: 400 });
    await stack.worker.startJob(job.id, {}, 2);
    expect(await stack.worker.ended(job.id, 2)).toMatchObject({ status: 'failed', turn: 2, waitingMessages: 0 });
    expect(JSON.stringify(stack.model.requests[2]!.body.messages).match(/And two/g)).toHaveLength(1);
  });

  it('begins the next turn when a plan is ready', async () => {
    await using stack = await startStack();
    stack.model.script({ toolCalls: [{ name: 'list', input: {} }] }, during(finish('The plan.')));
    const job = await stack.worker.runJob({ ...stack.job, planReview: true }, { maxSteps: 2 });
    expect(job).toMatchObject({ status: 'active', phase: 'queued', turn: 2, waitUntil: null });
    stack.model.script(finish('Another plan.'));
    await stack.worker.startJob(job.id, {}, 2);
    expect(await stack.worker.ended(job.id, 2)).toMatchObject({ phase: 'waiting', turn: 2, plan: 'Another plan.' });
  });

  it('stays unread when a person cancels the job', async () => {
    await using stack = await startStack();
    stack.model.script({ ...write('one.txt'), stall: true });
    const id = await stack.worker.createJob(stack.job);
    const { workflowId } = await stack.worker.startJob(id);
    await stack.model.nextRequest();
    await say(id);
    await stack.worker.client.workflow.getHandle(workflowId).cancel();
    expect(await stack.worker.ended(id)).toMatchObject({ status: 'failed', failureCategory: 'cancelled', turn: 1 });
  });
});
