import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { WorkerPullRequestStore } from '../../../db/worker/pull-requests.ts';
import { createClients } from '../../../worker/clients.ts';
import { readConfig } from '../../../worker/config.ts';

function clientsWith(env: NodeJS.ProcessEnv) {
  const config = readConfig({ DATABASE_URL: 'postgres://docket@127.0.0.1:1/docket', ...env });
  return createClients({ config, pullRequests: {} as WorkerPullRequestStore });
}

it('reads a repository of GitHub with the token where there is one, and every other without', async () => {
  const { forges } = clientsWith({ GITHUB_TOKEN: 'token' });
  expect(await forges.credentialOf('https://github.com/acme/docs')?.token()).toBe('token');
  expect(forges.credentialOf('https://gitlab.example/acme/docs')).toBeNull();
  expect(forges.credentialOf('/srv/git/docs.git')).toBeNull();
  expect(clientsWith({}).forges.credentialOf('https://github.com/acme/docs')).toBeNull();
});

it('says why a repository may not be used', () => {
  const { problemWithRepository } = clientsWith({ DOCKET_LOCAL_REPOSITORIES: '/srv/git' });
  expect(problemWithRepository('https://github.com/acme/docs')).toBeNull();
  expect(problemWithRepository('/srv/git/docs.git')).toBeNull();
  for (const refused of ['https://evil.example/x', '/etc', 'ext::sh'])
    expect(problemWithRepository(refused)).toMatch(/\.$/);
});

it('refuses a path below the root that a symbolic link leads out of it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'docket-roots-'));
  try {
    for (const name of ['root/own.git', 'elsewhere/other.git']) await mkdir(join(directory, name), { recursive: true });
    await symlink(join(directory, 'elsewhere'), join(directory, 'root/link'));
    const { problemWithRepository } = clientsWith({ DOCKET_LOCAL_REPOSITORIES: join(directory, 'root') });
    expect(problemWithRepository(join(directory, 'root/own.git'))).toBeNull();
    expect(problemWithRepository(join(directory, 'root/link/other.git'))).toMatch(/outside/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
