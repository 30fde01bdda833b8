import type { JobRow } from '../../../db/jobs/jobs.ts';
import { expect } from 'vitest';
import type { TestDatabase } from '../../support/database/database.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-wire.ts';
import { startTestWorker, type TestWorker } from '../../support/stack/worker.ts';

interface Scene {
  repository: TestRepository;
  model: ScriptedModelServer;
  worker: TestWorker;
  /** The job after its first turn, which wrote `one.txt`. */
  first: JobRow;
  /** Closes or merges the pull request of the first turn. */
  endPullRequest(state: 'closed' | 'merged'): Promise<void>;
  pullRequestHeads(): Promise<string[]>;
}

export function writing(path: string, content = `${path}\n`): ScriptedReply[] {
  return [
    { toolCalls: [{ name: 'write', input: { path, content } }] },
    { toolCalls: [{ name: 'finish', input: { title: `Write ${path}`, summary: `Wrote ${path}.` } }] },
  ];
}

/** Runs `act` once the first turn of a job has opened its pull request on a forge. */
export async function followUpScene(
  { database, forge }: { database: TestDatabase; forge: 'local' | 'github' },
  act: (scene: Scene) => Promise<void>,
): Promise<void> {
  await using github = await createFakeGithub();
  await using model = await startScriptedModelServer();
  const hosted = forge === 'github' ? await github.addRepository('acme/lamp') : null;
  await using repository = hosted ?? (await createTestRepository());
  await using worker = await startTestWorker({
    database,
    modelUrl: model.baseUrl,
    servers: { github: { token: github.token, apiUrl: github.apiUrl, app: null } },
  });
  model.script(...writing('one.txt'));
  const place = hosted?.url ?? repository.path;
  const first = await worker.runJob({ prompt: 'Write one', repository: place, forge });
  expect(first).toMatchObject({ status: 'completed', prState: 'open' });
  await act({
    repository,
    model,
    worker,
    first,
    async endPullRequest(state) {
      const [pullRequest] = github.pullRequests('acme/lamp');
      if (pullRequest !== undefined) {
        Object.assign(pullRequest, { state: 'closed', mergedAt: state === 'merged' ? '2026-01-02T00:00:00Z' : null });
      }
      await database.pool.query('update pull_requests set state = $2 where id = $1', [first.prId, state]);
    },
    async pullRequestHeads() {
      if (hosted !== null) return github.pullRequests('acme/lamp').map(({ head }) => head);
      const { rows } = await database.pool.query<{ head: string }>(
        'select head from pull_requests where repository = $1 order by number',
        [repository.path],
      );
      return rows.map(({ head }) => head);
    },
  });
  expect(model.violations).toEqual([]);
  expect(github.violations).toEqual([]);
}
