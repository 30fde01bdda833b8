import { expect, it } from 'vitest';
import type { Budgets } from '../../../db/for-worker/budgets.ts';
import { createPriceBook } from '../../../models/prices.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { recordStatements } from '../../support/database/record-statements.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';

/** Statements of timers, which a longer step repeats; a process sends one for all of its steps. */
const periodic = ['renew-model-calls', 'ended-turns', 'wake-watchers'];

const unlimited: Budgets = { jobMicros: null, dayMicros: null, organizationMicros: null };
const prices = createPriceBook({ 'compatible/scripted': { input: 10, output: 10 } });

/** Returns the statements between the requests of two steps, of three steps that write and three that read. */
async function statementsOfSteps(budgetCeilings: Budgets): Promise<string[][]> {
  await using database = await createTestDatabase();
  await using repository = await createTestRepository({ 'a.txt': 'text\n' });
  await using model = await startScriptedModelServer();
  const statements = recordStatements(database.pool);
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
  const change = () => ({ prices, budgetCeilings });
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl, change });
  expect(await worker.runJob({ prompt: 'Read it', repository: repository.path })).toMatchObject({
    status: 'completed',
  });
  expect(steps).toHaveLength(calls.length);
  return steps.slice(2);
}

it.each([
  { title: 'a step makes four statements', budgets: unlimited, begin: ['begin-call'] },
  {
    title: 'a step with budgets makes no further transaction',
    budgets: { jobMicros: 1e9, dayMicros: 1e9, organizationMicros: 1e9 },
    begin: [
      'begin',
      'lock-step',
      'turn-cost',
      'lock-organization',
      'day-cost',
      'organization-cost',
      'begin-call',
      'commit',
    ],
  },
])('$title', { tags: ['slow'], timeout: 120_000 }, async ({ budgets, begin }) => {
  const between = (store: string) => ['store-response', store, 'claim-answer', ...begin];
  const [writing, reading] = [between('store-results-and-snapshot'), between('store-results')];
  expect(await statementsOfSteps(budgets)).toEqual([writing, writing, reading, reading, reading]);
});
