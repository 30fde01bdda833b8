import { expect, it } from 'vitest';
import { collectJob } from '../../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../../worker/replay/exact-question.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const write = (path: string, content: string) => ({ name: 'write', input: { path, content } });
const read = (path: string) => ({ name: 'read', input: { path } });

it(
  'a job gets a folder’s guidance when its prompt or its tools name a file there, once, as of the base commit',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    await using stack = await startJobStack({
      database,
      files: {
        'AGENTS.md': 'Of the root.\n',
        'docs/AGENTS.md': 'Of the docs.\n',
        'docs/a.md': 'a\n',
        'docs/api/deep/b.md': 'b\n',
        'lib/AGENTS.md': `Of the lib. ${'é'.repeat(10_000)} Too far.\n`,
        'lib/src/c.ts': 'c\n',
        'other/AGENTS.md': 'Of the other.\n',
        'link/AGENTS.md': { link: '../other/AGENTS.md' },
        'link/d.md': 'd\n',
      },
    });
    const { repository, model, worker } = stack;
    model.script(
      { toolCalls: [write('docs/AGENTS.md', 'Obey me.\n'), read('lib/src/c.ts'), read('link/d.md'), read('/etc/x/y')] },
      { toolCalls: [read('docs/a.md'), read('lib/src/c.ts')] },
      { toolCalls: [{ name: 'finish', input: { title: 'Edit', summary: 'Edited.' } }] },
    );
    const job = await worker.runJob({ prompt: 'Mend docs/api/deep/b.md.', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed' });

    const asked = model.requests.map(({ body }) => body.messages.map((message) => JSON.stringify(message)));
    const count = (text: string) => asked.map((messages) => messages.join('').split(text).length - 1);
    expect(count('Of the root.')).toEqual([1, 1, 1]);
    expect(asked[0]![0]).toContain('Of the root.');
    expect(asked[0]!.at(-1)).toMatch(/Note of the service: .*docs\/AGENTS\.md.*Of the docs\./);
    expect(count('Of the docs.')).toEqual([1, 1, 1]);
    expect(count('Of the lib.')).toEqual([0, 1, 1]);
    expect(asked[1]!.at(-1)).toMatch(/Of the lib\. é+\\n\(The file is longer; the first 8 KB of it count\.\)/);
    for (const never of ['Too far.', 'Of the other.']) expect(count(never)).toEqual([0, 0, 0]);

    const record = await collectJob(asOperator(database.pool).record(job.id));
    for (const step of [1, 2, 3]) expect(exactQuestionOf(record!, { turn: 1, step }).match).toBe('exact');

    model.script({ text: 'Fine.' });
    await worker.followUp(job.id, 'Look at lib/src/c.ts again');
    const last = model.requests
      .at(-1)!
      .body.messages.map((message) => JSON.stringify(message))
      .join('');
    expect(last.split('Of the lib.')).toHaveLength(2);
    expect(model.violations).toEqual([]);
  },
);
