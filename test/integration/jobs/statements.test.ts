import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { recordStatements } from '../../support/database/record-statements.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';

/** Statements of timers, which a longer step repeats; a process sends one for all of its steps. */
const periodic = ['renew-model-calls', 'ended-turns', 'wake-watchers'];

it(
  'a step makes four statements: its claim reads the job and the conversation, its answer the job',
  { tags: ['slow'], timeout: 120_000 },
  async () => {
    await using database = await createTestDatabase();
    await using repository = await createTestRepository({ 'a.txt': 'text\n' });
    await using model = await startScriptedModelServer();
    const statements = recordStatements(database.pool);
    /** Those between the requests of two steps. */
    const steps: string[][] = [];
    const write = (path: string) => ({ name: 'write', input: { path, content: 'more\n' } });
    const read = { name: 'read', input: { path: 'a.txt' } };
    const calls = [
      write('b.txt'),
      write('c.txt'),
      write('d.txt'),
      read,
      read,
      read,
      { name: 'finish', input: { title: 'Read', summary: 'Read it.' } },
    ];
    model.respondWith(() => {
      const call = calls[steps.length];
      steps.push(statements.take().filter((name) => !periodic.includes(name)));
      return { toolCalls: call === undefined ? [] : [call] };
    });
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
    expect(await worker.runJob({ prompt: 'Read it', repository: repository.path })).toMatchObject({
      status: 'completed',
    });
    expect(steps).toHaveLength(calls.length);
    const between = (store: string) => ['store-response', store, 'claim-answer', 'begin-call'];
    const [writing, reading] = [between('store-results-and-snapshot'), between('store-results')];
    expect(steps.slice(2)).toEqual([writing, writing, reading, reading, reading]);
  },
);
