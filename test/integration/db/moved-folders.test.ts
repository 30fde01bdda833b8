import { expect, it } from 'vitest';
import { moveFolders } from '../../../db/organizations/moved-folders.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { buildJob, buildOrganization, buildProject, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';

it('updates every stored path after a folder moves, whole names and innermost folders only, idempotently', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const grants = [
    '/old/home/repositories/*',
    '/old/docs',
    '/older/*',
    'https://github.com/acme/*',
    '/old/docs/new',
    '/new/docs/new',
  ];
  const { id: organizationId } = await buildOrganization(pool, { grants });
  const repository = '/old/home/repositories/lamp.git';
  const allowedRepositories = ['https://github.com/old/x', '/older/x.git', '/old/home/repositories/b.git'];
  const project = await buildProject(pool, { organizationId, repository, forge: 'local', allowedRepositories });
  await buildJob(pool, project);
  await buildJob(pool, project, { repository: 'https://github.com/old/x' });
  await createWorkerPullRequestStore(pool).create({
    repository,
    head: 'h',
    base: 'b',
    title: '',
    body: '',
    draft: false,
  });
  await buildSite(pool, { organizationId, repository });
  await buildSite(pool, { organizationId, repository: undefined, directory: '/old/docs' });
  const all = async () => {
    const texts = async (query: string) => (await pool.query<{ text: unknown }>(query)).rows.map(({ text }) => text);
    return {
      projects: await texts(
        `select repository as text from projects union all select unnest(allowed_repositories) from projects`,
      ),
      jobs: await texts('select repository as text from jobs order by 1'),
      pulls: await texts('select repository as text from pull_requests'),
      sites: await texts('select coalesce(repository, directory) as text from sites order by 1'),
      grants: await texts('select resource as text from grants order by 1'),
    };
  };
  const moved = [
    { from: '/old', to: '/new' },
    { from: '/old/home/repositories', to: '/srv/git' },
  ];
  await moveFolders(pool, moved);
  const expected = {
    projects: ['/srv/git/lamp.git', 'https://github.com/old/x', '/older/x.git', '/srv/git/b.git'],
    jobs: ['/srv/git/lamp.git', 'https://github.com/old/x'],
    pulls: ['/srv/git/lamp.git'],
    sites: ['/new/docs', '/srv/git/lamp.git'],
    grants: ['/new/docs', '/new/docs/new', '/old/docs/new', '/older/*', '/srv/git/*', 'https://github.com/acme/*'],
  };
  expect(await all()).toEqual(expected);
  await moveFolders(pool, moved);
  await moveFolders(pool, []);
  expect(await all()).toEqual(expected);
});
