import { ApplicationFailure } from '@temporalio/activity';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { FailureType } from '../../../workflows/contract/failures.ts';

function writing(path: string) {
  return [
    { toolCalls: [{ name: 'write', input: { path, content: `${path}\n` } }] },
    { toolCalls: [{ name: 'finish', input: { title: `Write ${path}`, summary: `Wrote ${path}.` } }] },
  ];
}

it('a follow-up leaves the text that people changed, and replaces its own', { tags: 'slow' }, async () => {
  await using database = await createTestDatabase();
  await using github = await createFakeGithub();
  await using model = await startScriptedModelServer();
  const { url } = await github.addRepository('acme/lamp');
  let isLost = false;
  await using worker = await startTestWorker({
    database,
    modelUrl: model.baseUrl,
    servers: { github: { token: github.token, apiUrl: github.apiUrl, app: null } },
    change: ({ jobs }) => ({
      jobs: {
        ...jobs,
        setPublished(ref) {
          if (isLost) throw ApplicationFailure.nonRetryable('It was lost.', FailureType.Internal);
          return jobs.setPublished(ref);
        },
      },
    }),
  });
  model.script(...writing('one.txt'));
  const first = await worker.runJob({ prompt: 'Write one', repository: url, forge: 'github' });
  const [pullRequest] = github.pullRequests('acme/lamp');
  const write = async (prompt: string, path: string) => {
    model.script(...writing(path));
    return (await worker.followUp(first.id, prompt)).status;
  };
  // what the turn wrote is not stored as published
  isLost = true;
  expect(await write('Write two', 'two.txt')).toBe('failed');
  expect(pullRequest?.body).toContain('Wrote two.txt.');
  isLost = false;
  pullRequest!.title = 'One, two and three';
  expect(await write('Write three', 'three.txt')).toBe('completed');
  expect(pullRequest).toMatchObject({
    title: 'One, two and three',
    body: expect.stringMatching(/Write two[^]*Write three[^]*Wrote three\.txt\./),
  });
  pullRequest!.body = 'Closes #1\r\n';
  expect(await write('Write four', 'four.txt')).toBe('completed');
  expect(pullRequest).toMatchObject({ title: 'One, two and three', body: 'Closes #1\r\n', state: 'open' });
  expect(github.pullRequests('acme/lamp')).toHaveLength(1);
  expect([...model.violations, ...github.violations]).toEqual([]);
});
