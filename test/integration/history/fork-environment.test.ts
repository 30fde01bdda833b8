import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { newId } from '../../../db/ids.ts';
import { createJobForkStore } from '../../../db/jobs/job-forks.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { createProjectToolStore } from '../../../db/organizations/project-tools.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { collectJob } from '../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../worker/replay/exact-question.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startCommandScene } from '../../support/sandbox/command-scene.ts';
import { accountsWithSandbox } from '../../support/sandbox/sandbox.ts';
import { startMcpServer, textResult } from '../../support/servers/mcp-server.ts';
import { asOperator } from '../../support/stack/operator.ts';
import type { TestWorker } from '../../support/stack/worker.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const { accounts } = await accountsWithSandbox();
const database = ofFile(createTestDatabase);

const call = (name: string, input: object = {}) => ({ toolCalls: [{ name, input }] });
const finish = call('finish', { title: 'Change it', summary: 'Changed.' });

async function runFork(worker: TestWorker, jobId: string, step: number): Promise<JobRow> {
  const made = await createJobForkStore(database.pool).fork(await asOperator(database.pool).of(jobId), {
    id: newId('job_'),
    from: { jobId, step },
    models: null,
    prompt: null,
    idempotency: null,
  });
  if (made.kind !== 'created') throw new Error(made.kind);
  await worker.startJob(made.job.id);
  return worker.ended(made.job.id);
}

async function noticesOf(jobId: string): Promise<unknown[]> {
  const { events } = await asOperator(database.pool).events(jobId);
  return events.filter(({ type }) => type === 'notice').map(({ data }) => data['text']);
}

describe('a fork', () => {
  it.runIf(accounts.length > 0)(
    'finds what the setup of its job installed, on any machine, without a second one',
    { tags: 'slow' },
    async () => {
      await using scene = await startCommandScene(database);
      await using elsewhere = await startCommandScene(database);
      const { repository } = scene;
      const setup = 'mkdir made && date +%s%N | tee ~/stamp made/stamp';
      await repository.commit({ '.docket/environment.yml': JSON.stringify({ setup }) });
      const look = call('run', { command: 'cat ~/stamp made/stamp; echo new > new.txt' });
      scene.model.script(look, { status: 400 });
      const failed = await scene.worker.runJob({ prompt: 'Look', repository: repository.path });
      expect(failed.status).toBe('failed');
      const stampsOf = (body: unknown) =>
        [...JSON.stringify(body).matchAll(/exit code 0\]\\n(\d+)\\n(\d+)/g)].flatMap(([, ...stamps]) => stamps);
      const [stamp] = stampsOf(scene.model.requests.at(-1)!.body);
      expect(stamp).toMatch(/^\d{19}$/);

      for (const [place, source] of [
        [scene, 'this'],
        [elsewhere, 'another'],
      ] as const) {
        place.model.script(look, finish);
        const fork = await runFork(place.worker, failed.id, 1);
        expect(fork).toMatchObject({ status: 'completed' });
        // once in the step that was copied, once in its own
        expect(stampsOf(place.model.requests.at(-1)!.body)).toEqual([stamp, stamp, stamp, stamp]);
        expect(await noticesOf(fork.id)).toEqual([
          expect.stringMatching(`^The setup of .docket/environment.yml is skipped: .* from ${source} worker`),
        ]);
        expect(Object.keys(await repository.read(fork.headCommit!)).toSorted()).toEqual([
          '.docket/environment.yml',
          '.gitignore',
          'README.md',
          'new.txt',
        ]);
      }
    },
  );

  it('has the tools of MCP servers as they were when its turn began', { tags: 'slow' }, async () => {
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    await using server = await startMcpServer([
      { name: 'look', annotations: { readOnlyHint: true }, description: 'Looks.', call: () => textResult('Seen.') },
      { name: 'send', description: 'Sends.', call: () => textResult('Sent.') },
    ]);
    const jobId = await worker.createJob({ prompt: 'Go', repository: repository.path });
    const { projectId, organizationId } = (await worker.deps.jobs.get(jobId))!;
    await createProjectToolStore(database.pool, createSecretBox([])).replaceServers(
      operatorOf({ organizationId }),
      projectId,
      [{ name: 'docs', url: server.url, command: null, tools: null, readOnly: 'annotated' }],
    );
    model.script(call('docs__look'), { status: 400 });
    await worker.startJob(jobId);
    expect(await worker.ended(jobId)).toMatchObject({ status: 'failed' });
    expect(server.calls).toEqual([{ name: 'look', input: {} }]);
    const [{ body: first }] = model.requests as [(typeof model.requests)[0]];

    server.tools[0]!.description = 'Looks, and sends what it sees.';
    server.tools.push({ name: 'more', call: () => textResult('More.') });
    const before = model.requests.length;
    model.script({ toolCalls: ['look', 'send', 'more'].map((tool) => ({ name: `docs__${tool}`, input: {} })) }, finish);
    const fork = await runFork(worker, jobId, 1);
    expect(fork).toMatchObject({ status: 'completed' });
    for (const { body } of model.requests.slice(before)) expect(body.tools).toEqual(first.tools);
    expect(server.calls.slice(1)).toEqual([{ name: 'send', input: {} }]);
    const record = (await collectJob(asOperator(database.pool).record(fork.id)))!;
    const [look, send, more] = record.steps.find(({ step }) => step === 2)!.toolResults!;
    expect(look!.output).toContain(
      'The MCP server docs has changed this tool since the turn began, so it was not called',
    );
    expect(send).toMatchObject({ isError: false, output: expect.stringContaining('Sent.') });
    expect(more!.output).toContain('There is no tool named "docs__more"');
    for (const step of [1, 2, 3]) expect(exactQuestionOf(record, { turn: 1, step }).match).toBe('exact');

    // its next turn begins with the tools of today
    model.script(finish);
    expect(await worker.followUp(fork.id, 'Again')).toMatchObject({ status: 'completed' });
    const names = model.requests.at(-1)!.body.tools!.map((tool: any) => tool.function.name);
    expect(names.slice(-3)).toEqual(['docs__look', 'docs__more', 'docs__send']);
    expect(model.violations).toEqual([]);
  });
});
