import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { createTestWorkspaces } from '../clients/setup.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const write = { name: 'write', input: { path: 'notes.md', content: 'A note.\n' } };
const read = { name: 'read', input: { path: 'README.md' } };
const finish = { name: 'finish', input: { title: 'Write', summary: 'Written.', checked: 'Read it.' } };

// each process costs several milliseconds of CPU, more than most of the worker's own work in a step
it('starts git only for what a job needs', { tags: ['slow'] }, async () => {
  await using repository = await createTestRepository({ 'README.md': '# Lamp\n' });
  await using model = await startScriptedModelServer();
  await using test = await createTestWorkspaces();
  const { workspaces, calls } = test;
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl, change: () => ({ workspaces }) });
  const job = { prompt: 'Write', repository: repository.path };
  model.script({ toolCalls: [finish] });
  const { projectId } = await worker.runJob(job);

  model.script({ toolCalls: [read] }, { toolCalls: [write] }, { toolCalls: [finish] });
  calls.length = 0;
  expect(await worker.runJob({ ...job, projectId })).toMatchObject({ status: 'completed' });
  const preparation = 'ls-remote cat-file ls-tree for-each-ref rev-parse ls-tree read-tree ls-tree';
  const stepThatWrites = 'add write-tree pack-objects diff-tree diff-tree';
  const publication = 'diff-tree commit-tree ls-remote push ls-remote ls-tree';
  const commands = calls.map(({ args: [command] }) => command);
  expect(commands).toEqual([preparation, stepThatWrites, publication].join(' ').split(' '));
});
