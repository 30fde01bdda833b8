import { beforeAll, describe, expect, it } from 'vitest';
import { stepPromptSchema } from '../../../api/jobs/job-timeline-schemas.ts';
import { bundleRecordSchema, type BundleRecord } from '../../../db/jobs/bundle-schema.ts';
import { createJobBundleStore, type JobBundleStore } from '../../../db/jobs/job-bundle.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { runInThread } from '../../../lib/threads/run-in-thread.ts';
import { collectJob, type CollectedJob } from '../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../worker/replay/exact-question.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const call = (name: string, input: object) => ({ name, input });

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
let bundles: JobBundleStore;
/** A job of two turns, with three steps and one. */
let job: JobRow;
/** The prompt of each step, as the provider received it. */
let requests: { messages: { role: string; content: unknown }[]; tools?: { function: object }[] }[];

beforeAll(async () => {
  await using stack = await startJobStack({ database, files: { 'README.md': '# Lamp\n', 'AGENTS.md': 'Be brief.\n' } });
  const { repository, model, worker } = stack;
  model.script(
    { text: 'I look.', toolCalls: [call('read', { path: 'README.md' }), call('read', { path: 'none.txt' })] },
    { toolCalls: [call('write', { path: 'one.txt', content: 'one\n' })] },
    { toolCalls: [call('finish', { title: 'Write one', summary: 'Wrote one.' })] },
    { toolCalls: [call('finish', { title: 'Write one', summary: 'It is there.' })] },
  );
  const { id } = await worker.runJob({ prompt: 'Write one', repository: repository.path });
  job = await worker.followUp(id, 'Is it there?');
  expect(job.status).toBe('completed');
  requests = model.requests.map(({ body }) => body);
  bundles = createJobBundleStore(database.pool);
});

async function* recordsIn(lines: AsyncIterable<string>): AsyncGenerator<BundleRecord> {
  for await (const line of lines) yield bundleRecordSchema.parse(JSON.parse(line));
}

const collected = async (lines: AsyncIterable<string>): Promise<CollectedJob> => (await collectJob(recordsIn(lines)))!;

describe('the prompt of a step', { tags: 'slow' }, () => {
  it('is returned as the model got it', async () => {
    const { key } = await buildKey(database.pool, job);
    const promptOf = (turn: number, step: number, asKey = key) =>
      api.ask(`/v2/agent/${job.projectId}/job/${job.id}/steps/${turn}/${step}/prompt`, { key: asKey });
    const places = [
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
    ] as const;
    for (const [index, [turn, step]] of places.entries()) {
      const { body } = await promptOf(turn, step);
      const prompt = stepPromptSchema.strict().parse(body);
      const [system, ...rest] = requests[index]!.messages;
      const shown = prompt.toolDefinitions.map(({ inputSchema, ...tool }) => ({ ...tool, parameters: inputSchema }));
      expect(shown).toEqual(requests[index]!.tools!.map((tool) => tool.function));
      expect(prompt).toMatchObject({ match: 'exact', system: system!.content, omittedMessages: 0 });
      expect(prompt.system).toContain('Be brief.');
      expect(prompt.tools).toContain('multi_edit');
      expect(prompt.tools).toEqual(shown.map((tool) => tool.name));
      // on the wire, each result of a tool is a message
      const roles = prompt.messages.flatMap(({ role, content }) =>
        role === 'tool' && typeof content !== 'string' ? content.map(() => role) : [role],
      );
      expect(roles).toEqual(rest.map(({ role }) => role));
    }
    expect((await promptOf(1, 9)).status).toBe(404);
    const other = await buildKey(database.pool, await buildProject(database.pool));
    expect((await promptOf(1, 1, other.key)).status).toBe(404);
    await database.pool.query('update jobs set transcript_removed_at = now() where id = $1', [job.id]);
    expect((await promptOf(9, 1)).status).toBe(409);
    await database.pool.query('update jobs set transcript_removed_at = null where id = $1', [job.id]);
  });

  it('is rebuilt from no more records than it needs, and from all that it needs', async () => {
    await database.pool.query(
      `insert into job_compactions (job_id, turn, step, upto_turn, upto_step, summary, ledger)
       values ($1, 2, 1, 1, 2, 'It wrote one.', '{"read": {}, "changed": [], "todo": []}')`,
      [job.id],
    );
    const everything = await collected(bundles.read(job, job.id));
    for (const { at, steps } of [
      { at: { turn: 1, step: 2 }, steps: ['1.1', '1.2'] },
      { at: { turn: 2, step: 1 }, steps: ['1.3', '2.1'] },
    ]) {
      const few = await collected(bundles.readPrompt(job, job.id, at));
      expect(few.steps.map(({ turn, step }) => `${turn}.${step}`)).toEqual(steps);
      expect(exactQuestionOf(few, at)).toEqual(exactQuestionOf(everything, at));
    }
  });

  it('has its newest messages when it is too long', async () => {
    const at = { turn: 1, step: 3 };
    const records: string[] = [];
    for await (const record of bundles.readPrompt(job, job.id, at)) records.push(record);
    const shown = async (limits: { maxMessages: number; maxCharacters: number }): Promise<unknown> =>
      JSON.parse(
        await runInThread<object, string>({
          script: new URL('../../../worker/replay/exact-question-thread.ts', import.meta.url),
          data: { records, ...at, ...limits },
          signal: AbortSignal.timeout(60_000),
        }),
      );
    const { messages } = exactQuestionOf(await collected(bundles.read(job, job.id)), at);
    expect(messages).toHaveLength(5);
    expect(await shown({ maxMessages: 2, maxCharacters: 4_000 })).toMatchObject({
      omittedMessages: 3,
      messages: messages.slice(-2),
    });
    expect(await shown({ maxMessages: 2, maxCharacters: 10 })).toMatchObject({ omittedMessages: 5, messages: [] });
  });
});
