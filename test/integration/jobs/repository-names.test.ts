import { expect, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createProjectRepositoryStore } from '../../../db/organizations/project-repository.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';

const token = `ghp_${'aB3'.repeat(12)}`;
const done = { toolCalls: [{ name: 'finish', input: { title: 'Read', summary: 'Nothing to do.' } }] };

it(
  "a job keeps names of its project's repository as suggestions, and not those of another repository",
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    const many = Array.from({ length: 30 }, (_, at) => [`deep/er/${at + 10}.md`, 'x'] as const);
    await using repository = await createTestRepository({
      'docs/b.mdx': 'b',
      'docs/a.md': 'a',
      'README.md': 'Hello',
      'code.ts': 'x',
      [`docs/${token}.md`]: 'x',
      [`${'long/'.repeat(50)}a.md`]: 'x',
      ...Object.fromEntries(many),
    });
    for (const branch of ['release/1.0', token, 'docket/job_1-mine', `long-${'x'.repeat(200)}`])
      await repository.git('branch', branch, 'main');
    await using other = await createTestRepository({ 'OTHER.md': 'x' });
    await using model = await startScriptedModelServer();
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
    const store = createProjectRepositoryStore(database.pool);

    model.script(done);
    const { projectId, organizationId } = await worker.runJob({ prompt: 'Read.', repository: repository.path });
    const caller = operatorOf({ organizationId });
    const names = (await store.get(caller, projectId))!;
    expect(names.branches).toEqual(['main', 'release/1.0']);
    expect(names.documents).toHaveLength(20);
    expect(names.documents.slice(0, 4)).toEqual(['README.md', 'docs/a.md', 'docs/b.mdx', 'deep/er/10.md']);

    model.script(done);
    await worker.runJob({ prompt: 'Read.', repository: other.path, projectId });
    expect(await store.get(caller, projectId)).toEqual(names);

    await repository.git('branch', '-D', 'release/1.0');
    await repository.commit({ 'README.md': null });
    model.script(done);
    await worker.runJob({ prompt: 'Read.', repository: repository.path, projectId });
    const later = (await store.get(caller, projectId))!;
    expect(later.branches).toEqual(['main']);
    expect(later.documents[0]).toBe('docs/a.md');

    await database.pool.query('update projects set repository = $2 where id = $1', [projectId, other.path]);
    expect(await store.get(caller, projectId)).toEqual({ branches: [], documents: [] });
  },
);
