import { expect, it } from 'vitest';
import { createForges } from '../../../activities/clients/forges.ts';
import type { Forge } from '../../../activities/clients/forge.ts';
import { createSiteCredential } from '../../../activities/site-credential.ts';
import type { ProjectRow } from '../../../db/projects.ts';

const repository = 'https://github.com/acme/docs';
const project = {
  id: 'prj_1',
  organizationId: 'org_1',
  forge: 'github',
  forgeUrl: null,
  repository,
  allowedRepositories: ['https://github.com/acme/more'],
  hasCredential: true,
};

async function tokenFor(
  site: { organizationId: string; repository: string },
  { worker = 'of-the-worker', ...change }: Partial<ProjectRow> & { worker?: string | null } = {},
) {
  const row = { ...project, ...change } as ProjectRow;
  const learned: string[] = [];
  const siteCredential = createSiteCredential({
    projects: {
      get: async () => row,
      list: async (organizationId) => (organizationId === row.organizationId ? [row] : []),
    },
    credentials: { read: async () => 'of-the-project', readSshKey: async () => null },
    forges: createForges({
      local: {} as Forge,
      github: { apiUrl: 'https://api.github.com', token: worker, app: null },
      gitlab: null,
      gitea: null,
    }),
    secrets: { add: (secret) => void learned.push(secret) },
  });
  const token = (await (await siteCredential(site))?.token()) ?? null;
  if (token === 'of-the-project') expect(learned).toEqual([token]);
  return token;
}

it('reads a site with the token of a project of its organization that may use the repository', async () => {
  for (const own of [repository, 'https://github.com/acme/more'])
    expect(await tokenFor({ organizationId: 'org_1', repository: own })).toBe('of-the-project');
});

it("reads every other site with the worker's, or with none", async () => {
  expect(await tokenFor({ organizationId: 'org_2', repository })).toBe('of-the-worker');
  expect(await tokenFor({ organizationId: 'org_1', repository: `${repository}-2` })).toBe('of-the-worker');
  expect(await tokenFor({ organizationId: 'org_1', repository }, { hasCredential: false })).toBe('of-the-worker');
  expect(await tokenFor({ organizationId: 'org_1', repository: 'https://git.test/a/b' })).toBeNull();
  expect(await tokenFor({ organizationId: 'org_2', repository }, { worker: null })).toBeNull();
});
