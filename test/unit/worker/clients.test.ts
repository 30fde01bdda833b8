import { expect, it } from 'vitest';
import type { WorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createClients } from '../../../worker/clients.ts';
import { readConfig } from '../../../worker/config/config.ts';

const free = { refusal: () => null };

function clientsWith(env: NodeJS.ProcessEnv) {
  const config = readConfig({ DATABASE_URL: 'postgres://docket@127.0.0.1:1/docket', ...env });
  return createClients({ config, pullRequests: {} as WorkerPullRequestStore });
}

it('reads a GitHub repository with the token if there is one, and any other without', async () => {
  const { forges } = clientsWith({ GITHUB_TOKEN: 'token' });
  expect(await forges.credentialOf('https://github.com/acme/docs', free)?.token()).toBe('token');
  expect(forges.credentialOf('https://gitlab.example/acme/docs', free)).toBeNull();
  expect(forges.credentialOf('/srv/git/docs.git', free)).toBeNull();
  expect(clientsWith({}).forges.credentialOf('https://github.com/acme/docs', free)).toBeNull();
});

it('reports why a repository may not be used', () => {
  const { problemWithRepository } = clientsWith({ DOCKET_LOCAL_REPOSITORIES: '/srv/git' });
  expect(problemWithRepository('https://github.com/acme/docs')).toBeNull();
  expect(problemWithRepository('/srv/git/docs.git')).toBeNull();
  for (const refused of ['https://evil.example/x', '/etc', 'ext::sh'])
    expect(problemWithRepository(refused)).toMatch(/\.$/);
});
