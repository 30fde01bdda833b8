import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply, ScriptedToolCall } from '../../support/servers/scripted-model-wire.ts';
import { startTestWorker, type TestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const ask = (question: string, choices?: string[]): ScriptedToolCall => ({ name: 'ask', input: { question, choices } });
const write: ScriptedToolCall = { name: 'write', input: { path: 'LICENSE', content: 'MIT\n' } };
const finish: ScriptedReply = { toolCalls: [{ name: 'finish', input: { title: 'License', summary: 'Done.' } }] };

async function scene(
  act: (scene: { model: ScriptedModelServer; worker: TestWorker; repository: string }) => Promise<void>,
): Promise<void> {
  await using model = await startScriptedModelServer();
  await using repository = await createTestRepository();
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
  await act({ model, worker, repository: repository.path });
  expect(model.violations).toEqual([]);
}

describe('a question of the agent', () => {
  it('waits for a person, whose message is the result of the call', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script({ toolCalls: [write, ask('Which license?', ['MIT', 'ISC'])] });
      const job = await worker.runJob({ prompt: 'Add a license', repository, mayAsk: true });
      expect(job).toMatchObject({
        status: 'active',
        phase: 'waiting',
        question: { text: 'Which license?', choices: ['MIT', 'ISC'] },
        prLink: null,
        branch: null,
      });
      model.script(finish);
      const done = await worker.followUp(job.id, 'MIT, please.');
      expect(done).toMatchObject({ status: 'completed', question: null });
      expect(await asOperator(database.pool).latestPatch(job.id)).toContain('+MIT');
      const { messages } = model.requests[1]!.body;
      expect(messages[0]).toEqual(model.requests[0]!.body.messages[0]);
      expect(messages[0]).toMatchObject({
        content: expect.stringContaining('text outside tool calls gets no reply'),
      });
      expect(messages.filter(({ role }) => role === 'user')).toHaveLength(1);
      expect(messages.at(-1)).toMatchObject({ role: 'tool', content: 'The person answers:\nMIT, please.' });
    });
  });

  it('is put alone: a second one and a finish beside it are refused', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script({ toolCalls: [ask('First?'), ask('Second?'), ...finish.toolCalls!] });
      const job = await worker.runJob({ prompt: 'Add a license', repository, mayAsk: true });
      expect(job).toMatchObject({ phase: 'waiting', question: { text: 'First?', choices: [] } });
      const [step] = await worker.deps.steps.list(job.id, 1);
      expect(step!.toolResults!.map(({ isError }) => isError)).toEqual([false, true, true]);
    });
  });

  it('is not put while a message waits', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      let id = '';
      model.script(async () => {
        await asOperator(database.pool).send({ jobId: id, prompt: 'Use MIT.', idempotency: null });
        return { toolCalls: [ask('Which license?')] };
      }, finish);
      id = await worker.createJob({ prompt: 'Add a license', repository, mayAsk: true });
      await worker.startJob(id);
      expect(await worker.ended(id)).toMatchObject({ status: 'completed', turn: 1, question: null });
      expect(JSON.stringify(model.requests[1]!.body.messages.at(-1))).toContain('Use MIT.');
    });
  });

  it('is not answered by a message from before it when the limits leave no room', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      let id = '';
      model.script({ toolCalls: [write] }, async () => {
        await asOperator(database.pool).send({ jobId: id, prompt: 'Yes, and a README.', idempotency: null });
        return { toolCalls: [ask('Shall I delete the data?')] };
      });
      id = await worker.createJob({ prompt: 'Add a license', repository, mayAsk: true });
      await worker.startJob(id, { maxSteps: 3 });
      expect(await worker.ended(id)).toMatchObject({ status: 'active', phase: 'queued', turn: 2, question: null });
      model.script(finish);
      await worker.startJob(id, {}, 2);
      expect(await worker.ended(id, 2)).toMatchObject({ status: 'completed', turn: 2 });
      const { messages } = model.requests[2]!.body;
      expect(messages.slice(-2)).toMatchObject([
        { role: 'tool', content: expect.stringContaining('Not asked') },
        { role: 'user', content: 'Yes, and a README.' },
      ]);
    });
  });

  it('is no tool of a job that may not ask', { tags: 'slow' }, async () => {
    await scene(async ({ model, worker, repository }) => {
      model.script({ toolCalls: [ask('Which license?')] }, finish);
      const job = await worker.runJob({ prompt: 'Add a license', repository });
      expect(job.status).toBe('completed');
      expect(model.requests[0]!.body.tools!.map(({ function: { name } }) => name)).not.toContain('ask');
    });
  });
});
