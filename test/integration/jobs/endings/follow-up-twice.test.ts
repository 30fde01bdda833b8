// @module-tag slow
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

function writing(path: string) {
  return [
    { toolCalls: [{ name: 'write', input: { path, content: `${path}\n` } }] },
    { toolCalls: [{ name: 'finish', input: { title: `Write ${path}`, summary: `Wrote ${path}.` } }] },
  ];
}

it.each([
  'workspaces.mergeUpstream',
  'branches.adopt',
  'publish',
  'ensurePullRequest',
  'setPublished',
  'take',
] as const)(
  'a further turn whose attempt dies after %s leaves one more commit and keeps what others pushed',
  async (call) => {
    let isArmed = false;
    const losses: string[] = [];
    const losing =
      <Arguments extends unknown[], Result>(name: string, work: (...values: Arguments) => Promise<Result>) =>
      async (...values: Arguments): Promise<Result> => {
        const result = await work(...values);
        if (!isArmed || name !== call || losses.length > 0) return result;
        losses.push(name);
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET', syscall: 'read' });
      };
    await using stack = await startJobStack({
      database,
      change: ({ workspaces, branches, forges, jobs, messages }) => ({
        workspaces: {
          ...workspaces,
          mergeUpstream: losing('workspaces.mergeUpstream', workspaces.mergeUpstream),
          publish: losing('publish', workspaces.publish),
        },
        branches: { ...branches, adopt: losing('branches.adopt', branches.adopt) },
        jobs: { ...jobs, setPublished: losing('setPublished', jobs.setPublished) },
        messages: { ...messages, take: losing('take', messages.take) },
        forges: {
          ...forges,
          forProject(project, use) {
            const forge = forges.forProject(project, use);
            return { ...forge, ensurePullRequest: losing('ensurePullRequest', forge.ensurePullRequest) };
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.script(...writing('one.txt'));
    const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
    await repository.commit({ 'early.txt': 'early\n' }, { branch: first.branch! });
    isArmed = true;
    const [write, finish] = writing('two.txt');
    model.script(
      async () => {
        await asOperator(database.pool).send({ jobId: first.id, prompt: 'Mind the rest', idempotency: null });
        return write!;
      },
      async () => {
        await repository.commit({ 'late.txt': 'late\n' }, { branch: first.branch! });
        return finish!;
      },
    );
    const second = await worker.followUp(first.id, 'Write two');
    expect(losses).toEqual([call]);
    expect(second).toMatchObject({ status: 'completed', prLink: first.prLink, waitingMessages: 0, steps: 4 });
    expect(await repository.git('rev-parse', first.branch!)).toBe(second.headCommit);
    expect(Object.keys(await repository.read(second.headCommit!))).toEqual([
      'README.md',
      'early.txt',
      'late.txt',
      'one.txt',
      'two.txt',
    ]);
    expect(await repository.git('rev-list', '--count', `main..${first.branch}`)).toBe('4');
    expect(JSON.stringify(model.requests[3]!.body.messages)).toContain('Mind the rest');
    expect(model.violations).toEqual([]);
  },
);
