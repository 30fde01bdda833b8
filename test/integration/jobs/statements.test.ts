import type { Pool, PoolClient, QueryConfig } from 'pg';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/scripted-model-server.ts';
import { startTestWorker } from '../../support/worker.ts';

/** Statements of timers, which a longer step repeats; a process sends one for all of its steps. */
const periodic = ['renew-model-calls', 'ended-turns', 'wake-watchers'];

/** Notes the name, or else the text, of each statement that a pool sends. */
function recordStatements(pool: Pool): { take(): string[] } {
  let sent: string[] = [];
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const recording = (...args: unknown[]) => {
      const [statement] = args as [string | QueryConfig];
      const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement;
      sent.push(name ?? text.replaceAll(/\s+/gu, ' ').trim());
      return query(...args);
    };
    Object.assign(client, { query: recording });
  });
  return {
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}

it(
  'a step that only reads sends a fixed number of statements, each a transaction of its own',
  { tags: ['slow'] },
  async () => {
    await using database = await createTestDatabase();
    await using repository = await createTestRepository({ 'a.txt': 'text\n' });
    await using model = await startScriptedModelServer();
    const statements = recordStatements(database.pool);
    const steps: string[][] = [];
    model.respondWith(() => {
      steps.push(statements.take().filter((name) => !periodic.includes(name)));
      if (steps.length > 5) return { toolCalls: [{ name: 'finish', input: { title: 'Read', summary: 'Read it.' } }] };
      const read = { name: 'read', input: { path: 'a.txt' } };
      if (steps.length > 1) return { toolCalls: [read] };
      return { toolCalls: [{ name: 'write', input: { path: 'b.txt', content: 'more\n' } }] };
    });
    await using worker = await startTestWorker({ database, modelUrl: model.baseUrl });
    expect(await worker.runJob({ prompt: 'Read it', repository: repository.path })).toMatchObject({
      status: 'completed',
    });
    // from the request of one step to that of the next
    const reading = steps.slice(2, 5).map((names) => names.toSorted());
    const each = [
      'begin-call',
      'claim-answer',
      'job-access',
      'job-access',
      'job-context',
      'list-steps',
      'newest-snapshot',
      'store-response',
      'store-results',
    ];
    expect(reading).toEqual([each, each, each]);
  },
);
