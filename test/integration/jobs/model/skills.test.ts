import { expect, it } from 'vitest';
import { createProjectGuidanceStore } from '../../../../db/organizations/project-guidance.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { collectJob } from '../../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../../worker/replay/exact-question.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const skillFile = (name: string, description: string, body: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
const skill = (name: string) => ({ name: 'skill', input: { name } });
const finish = { name: 'finish', input: { title: 'Edit', summary: 'Edited.' } };

it(
  'a job gets the instructions and skills of its project and of the base commit, as they were when the turn began',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    const notes = '.claude/skills/notes/SKILL.md';
    await using stack = await startJobStack({
      database,
      files: {
        'CLAUDE.md': 'Of CLAUDE.md.\n',
        'docs/CLAUDE.md': 'Not this: docs has an AGENTS.md.\n',
        'docs/AGENTS.md': 'Of the docs.\n',
        'docs/a.md': 'a\n',
        [notes]: skillFile('notes', 'Use for release notes.', 'Write in the past tense.'),
        '.github/skills/notes/SKILL.md': skillFile('notes', 'Shadowed.', 'Shadowed.'),
        '.docket/skills/tests/SKILL.md': skillFile('tests', 'Of the repository.', 'Replaced by the project.'),
        '.claude/skills/broken/SKILL.md': '---\nname: Not A Name\n---\nNothing.\n',
        '.claude/skills/long/SKILL.md': skillFile('long', 'Long.', 'é'.repeat(20_000)),
        'other/skills/hidden/SKILL.md': skillFile('hidden', 'Elsewhere.', 'Elsewhere.'),
      },
    });
    const { repository, model, worker } = stack;
    const guidance = createProjectGuidanceStore(database.pool);
    const jobId = await worker.createJob({ prompt: 'Mend docs/a.md.', repository: repository.path });
    const { projectId, organizationId } = (await worker.deps.jobs.get(jobId))!;
    const caller = operatorOf({ organizationId });
    await guidance.change(caller, projectId, {
      instructions: 'Of the project. model-key-0123456789',
      skills: [{ name: 'tests', description: 'Use for tests.', content: 'Run them twice. model-key-0123456789' }],
    });
    model.script(
      { toolCalls: [{ name: 'write', input: { path: notes, content: 'Obey me.' } }, skill('tests')] },
      { toolCalls: [skill('notes'), skill('long'), skill('hidden'), { name: 'skill', input: {} }] },
      { toolCalls: [finish] },
    );
    await worker.startJob(jobId);
    expect(await worker.ended(jobId)).toMatchObject({ status: 'completed' });

    const requests = model.requests.map(({ body }) => body);
    const systems = requests.map(({ messages }) => messages[0]!.content as string);
    expect(new Set(systems).size).toBe(1);
    const [system = ''] = systems;
    for (const text of ['Of the project.', '(CLAUDE.md)', 'Of CLAUDE.md.']) expect(system).toContain(text);
    expect(system.indexOf('Of the project.')).toBeLessThan(system.indexOf('Of CLAUDE.md.'));
    expect(system).toMatch(/- tests: Use for tests\.\n- long: Long\.\n- notes: Use for release notes\.$/);
    expect(JSON.stringify(requests)).not.toContain('Not this');
    expect(JSON.stringify(requests)).not.toContain('model-key');
    expect(JSON.stringify(requests[0])).toContain('Of the docs.');

    const { rows } = await database.pool.query('select result from job_effects');
    expect(JSON.stringify(rows)).toContain('Run them twice.');
    expect(JSON.stringify(rows)).not.toContain('model-key');

    const record = (await collectJob(asOperator(database.pool).record(jobId)))!;
    const results = record.steps.flatMap(({ toolResults }) => toolResults ?? []).map(({ output }) => output);
    expect(results[1]).toMatch(/The skill tests follows \(from the project\)\..*\n\nRun them twice\. /);
    expect(results[2]).toMatch(/The skill notes follows \(from \.claude.*\n\nWrite in the past tense\.$/);
    expect(results[3]).toContain('(The file is longer; the first 16 KB of it count.)');
    expect(results[4]).toBe('There is no skill named "hidden". The skills are tests, long, notes.');
    expect(results[5]).toMatch(/input is invalid/);
    for (const step of [1, 2, 3]) expect(exactQuestionOf(record, { turn: 1, step }).match).toBe('exact');

    await guidance.change(caller, projectId, { instructions: 'Changed.', skills: [] });
    model.script({ toolCalls: [skill('tests')] }, { toolCalls: [finish] });
    await worker.followUp(jobId, 'Again');
    const later = model.requests.at(-1)!.body.messages[0]!.content as string;
    expect(later).toContain('Changed.');
    expect(later).not.toContain('Use for tests.');
    expect(later).toContain('- tests: Of the repository.');
    const after = (await collectJob(asOperator(database.pool).record(jobId)))!;
    expect(after.steps.at(-2)!.toolResults![0]!.output).toContain('Replaced by the project.');
    for (const [turn, step] of [
      [1, 3],
      [2, 1],
      [2, 2],
    ] as const)
      expect(exactQuestionOf(after, { turn, step }).match).toBe('exact');
    expect(model.violations).toEqual([]);
  },
);

it('offers no skill tool without skills', async () => {
  await using database = await createTestDatabase();
  await using stack = await startJobStack({
    database,
    files: { 'CLAUDE.md': 'Not this.\n', 'AGENTS.md': 'Of AGENTS.md.\n' },
  });
  const { repository, model, worker } = stack;
  model.script({ toolCalls: [finish] });
  await worker.runJob({ prompt: 'Go', repository: repository.path });
  const [{ body }] = model.requests as [(typeof model.requests)[number]];
  expect(body.tools!.map((tool: any) => tool.function.name)).not.toContain('skill');
  expect(body.messages[0]!.content).toContain('(AGENTS.md)');
  expect(JSON.stringify(body)).not.toContain('Not this.');
});

it('keeps the skills of the base commit when others push to the branch of the job', { tags: 'slow' }, async () => {
  await using database = await createTestDatabase();
  const notes = '.claude/skills/notes/SKILL.md';
  await using stack = await startJobStack({
    database,
    files: {
      'CLAUDE.md': 'Of the base.\n',
      [notes]: skillFile('notes', 'Of the base.', 'Write in the past tense.'),
    },
  });
  const { repository, model, worker } = stack;
  const write = (path: string) => ({ toolCalls: [{ name: 'write', input: { path, content: 'x\n' } }] });
  model.script(write('one.md'), { toolCalls: [finish] });
  const first = await worker.runJob({ prompt: 'Go', repository: repository.path });
  const pushed = {
    'CLAUDE.md': 'Obey the pushed.\n',
    [notes]: skillFile('notes', 'Obey the pushed.', 'Obey the pushed.'),
    '.docket/skills/more/SKILL.md': skillFile('more', 'Obey the pushed.', 'Obey the pushed.'),
  };
  await repository.commit(pushed, { branch: first.branch! });

  model.script({ toolCalls: [skill('notes'), skill('more')] }, write('two.md'), { toolCalls: [finish] });
  const second = await worker.followUp(first.id, 'Again');
  // the files are there: the turn continues from what was pushed
  expect(await repository.read(second.headCommit!)).toMatchObject({ 'CLAUDE.md': '100644 Obey the pushed.' });
  const requests = model.requests.slice(2).map(({ body }) => body);
  const system = requests[0]!.messages[0]!.content as string;
  expect(system).toMatch(/Of the base\.\n[^]*- notes: Of the base\.$/);
  expect(JSON.stringify(requests)).not.toContain('Obey the pushed.');
  const results = requests[1]!.messages.slice(-2).map(({ content }) => content);
  expect(results[0]).toMatch(/\n\nWrite in the past tense\.$/);
  expect(results[1]).toBe('There is no skill named "more". The skills are notes.');
  expect(model.violations).toEqual([]);
});
