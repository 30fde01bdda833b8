// @module-tag slow
import { expect, it } from 'vitest';
import { collectJob } from '../../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../../worker/replay/exact-question.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const write = (path: string, content: string) => ({ name: 'write', input: { path, content } });
const finish = { toolCalls: [{ name: 'finish', input: { title: 'Write', summary: 'Wrote.' } }] };

it.each(['open', 'merged'] as const)(
  'a job whose change conflicts with other commits continues from them and is notified, while its pull request is %s',
  async (state) => {
    await using database = await createTestDatabase();
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    model.script({ toolCalls: [write('one.txt', 'one\n')] }, finish);
    const first = await worker.runJob({ prompt: 'Write one', repository: repository.path });
    expect(first).toMatchObject({ status: 'completed', prState: 'open' });

    model.script({ toolCalls: [write('one.txt', 'ours\n'), write('own.txt', 'own\n')] }, async () => {
      await repository.commit({ 'one.txt': 'theirs\n' }, { branch: first.branch! });
      return finish;
    });
    const second = await worker.followUp(first.id, 'Write one again');
    expect(second).toMatchObject({ status: 'failed', failureCategory: 'push_rejected' });
    if (state === 'merged') {
      await repository.commit({ 'one.txt': 'theirs\n' });
      await database.pool.query(`update pull_requests set state = 'merged' where id = $1`, [first.prId]);
    }

    model.script({ toolCalls: [write('three.txt', 'three\n')] }, finish);
    const third = await worker.followUp(first.id, 'Write three');
    expect(third).toMatchObject({ status: 'completed', prState: 'open', failureCategory: null });
    expect(await repository.read(third.headCommit!)).toMatchObject({
      'one.txt': '100644 theirs',
      'own.txt': '100644 own',
      'three.txt': '100644 three',
    });
    const told = JSON.stringify(model.requests.at(-2)!.body.messages.at(-1));
    expect(told).toMatch(/Note of the service: .*same lines as you in one\.txt\./);
    const record = await collectJob(asOperator(database.pool).record(first.id));
    expect(exactQuestionOf(record!, { turn: 3, step: 1 }).match).toBe('exact');
    expect(model.violations).toEqual([]);
  },
);
