import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Forge } from '../../../../activities/forges/forge.ts';
import { createForges } from '../../../../activities/forges/forges.ts';
import { createGrantedAccess } from '../../../../activities/job/granted-access.ts';
import type { JobRow } from '../../../../db/jobs/jobs.ts';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const repository = 'https://github.com/acme/docs';
const project = {
  id: 'prj_1',
  organizationId: 'org_1',
  forge: 'github',
  forgeUrl: null,
  repository,
  allowedRepositories: ['https://github.com/acme/more'],
  hasCredential: true,
  sshKnownHosts: [],
};
const { signal } = new AbortController();

interface Scene extends Partial<ProjectRow> {
  /** Of org_1. */
  grants?: string[];
  worker?: string | null;
  root?: string;
}

function accessWith({ grants = [], worker = 'of-the-worker', root = '/srv', ...change }: Scene = {}) {
  const row = { ...project, ...change } as ProjectRow;
  const learned: string[] = [];
  const secretsOfProject = {
    project: row,
    token: () => (row.hasCredential ? 'of-the-project' : null),
    sshKey: () => 'ssh key',
    serverValues: () => [{ name: 'Authorization', value: 'Bearer of-the-server' }],
  };
  const job = {
    ...secretsOfProject,
    job: { organizationId: 'org_1', model: 'a/x', fallbackModels: [] as string[] } as JobRow,
    downModels: [],
    grants,
    environment: null,
    setupSecrets: () => ['of-the-setup'],
  };
  const access = createGrantedAccess({
    grants: { resources: async ({ organizationId }) => (organizationId === 'org_1' ? grants : []) },
    projects: { list: async ({ organizationId }) => (organizationId === row.organizationId ? [row] : []) },
    credentials: { read: async () => secretsOfProject, readOfJob: async () => job, openJob: () => job },
    forges: createForges({
      local: { credential: () => null } as unknown as Forge,
      github: { apiUrl: 'https://api.github.com', token: worker, app: null },
      gitlab: { url: 'https://gitlab.com', token: 'of-gitlab' },
      gitea: null,
    }),
    secrets: { learn: (_projectId, secrets) => void learned.push(...secrets) },
    problemWithRepository: () => null,
    roots: { repositories: root, directories: root },
  });
  return { access, learned };
}

async function jobToken(wanted: string, scene: Scene = {}, organizationId = 'org_1') {
  const { access } = accessWith(scene);
  const job = { id: 'job_1', organizationId, projectId: 'prj_1', repository: wanted };
  const credential = (await access.repositoryOf(job, signal))?.credential ?? null;
  return credential !== null && 'token' in credential ? credential.token() : credential;
}

async function siteToken(wanted: string, scene: Scene = {}, organizationId = 'org_1') {
  const { access, learned } = accessWith(scene);
  const { credential } = await access.siteRepositoryOf({ organizationId, repository: wanted }, signal);
  const token = credential !== null && 'token' in credential ? await credential.token() : null;
  if (token === 'of-the-project') expect(learned).toEqual([token]);
  return token;
}

const refused = (organizationId: string, place: string) =>
  expect.objectContaining({
    kind: 'authentication',
    message: expect.stringContaining(
      `Give the project its own token, or ask the operator to run "docket org grant ${organizationId} ${place}"`,
    ),
  });

describe('a job', () => {
  it('uses its project’s token, for the project’s server', async () => {
    expect(await jobToken(repository)).toBe('of-the-project');
    // another server of the worker gets neither the project's token nor its own
    expect(await jobToken('https://gitlab.com/acme/docs', { grants: ['*'] })).toBeNull();
  });

  it('uses the worker’s token only under a grant for its repository', async () => {
    const none = { hasCredential: false };
    await expect(jobToken(repository, none)).rejects.toEqual(refused('org_1', repository));
    const grants = ['https://github.com/acme/docs'];
    expect(await jobToken(repository, { ...none, grants })).toBe('of-the-worker');
    await expect(jobToken('https://github.com/acme/more', { ...none, grants })).rejects.toEqual(
      refused('org_1', 'https://github.com/acme/more'),
    );
    await expect(jobToken(repository, { ...none, grants }, 'org_2')).rejects.toEqual(refused('org_2', repository));
  });

  it('connects over ssh with the project’s key, and to its forge only under a grant', async () => {
    const ssh = { repository: 'ssh://git@github.com/acme/docs', hasCredential: false };
    await expect(jobToken(ssh.repository, ssh)).rejects.toEqual(refused('org_1', repository));
    expect(await jobToken(ssh.repository, { ...ssh, grants: [repository] })).toEqual({
      privateKey: 'ssh key',
      knownHosts: [],
    });
    // requests go to the server that the token is for, whatever the address says
    const other = { ...ssh, repository: 'ssh://git@ssh.github.com/acme/docs', grants: ['https://ssh.github.com/*'] };
    await expect(jobToken(other.repository, other)).rejects.toEqual(refused('org_1', repository));
  });
});

describe('a site', () => {
  it('is read with the token of a project of its organization that may use the repository', async () => {
    for (const own of [repository, 'https://github.com/acme/more'])
      expect(await siteToken(own, { grants: ['*'] })).toBe('of-the-project');
  });

  it('is read with the worker’s token under a grant, and without one otherwise', async () => {
    expect(await siteToken('https://github.com/Acme/Docs')).toBe('of-the-project');
    expect(await siteToken(repository, { hasCredential: false })).toBeNull();
    expect(await siteToken(repository, {}, 'org_2')).toBeNull();
    const grants = ['https://github.com/acme/*'];
    expect(await siteToken(repository, { hasCredential: false, grants })).toBe('of-the-worker');
    expect(await siteToken(`${repository}-2`, { grants })).toBe('of-the-worker');
    expect(await siteToken('https://github.com/other/docs', { grants })).toBeNull();
    expect(await siteToken('https://git.test/a/b', { grants: ['*'] })).toBeNull();
    expect(await siteToken(repository, { hasCredential: false, grants, worker: null })).toBeNull();
  });
});

describe('a path on this machine', () => {
  it('is opened only under a grant, wherever symbolic links lead', async () => {
    const top = temporaryDirectory();
    const at = (path: string) => join(top, 'root', path);
    for (const folder of ['a/own.git/objects', 'b/other.git/objects', 'a/linked/.git', 'a/docs/guides', 'a/half.git'])
      await mkdir(at(folder), { recursive: true });
    await mkdir(join(top, 'outside.git'));
    await symlink(at('b/other.git'), at('a/link.git'));
    await symlink(join(top, 'outside.git'), at('a/outside.git'));
    await symlink(at('a/own.git'), at('a/alias.git'));
    await symlink(at('b/other.git/objects'), at('a/half.git/objects'));
    await mkdir(at('a/tree'));
    await writeFile(at('a/tree/.git'), `gitdir: ${at('b/other.git')}\n`);
    await symlink(at('b'), at('a/docs/b'));
    await symlink(join(top, 'root'), join(top, 'alias'));

    const scene = { grants: [`${at('a')}/*`] };
    const checks = (root: string, grants = scene.grants) => accessWith({ root, grants }).access;
    const owner = { organizationId: 'org_1' };
    const opens = (path: string, access = checks(at(''))) =>
      access.checkRepository(owner, path).then(
        () => true,
        (error: unknown) => (error as Error).message,
      );
    const missing = (path: string) =>
      `There is no repository ${path} that the organization may use. If there should be, ask the operator to run "docket org grant org_1 ${path}".`;
    for (const path of ['a/own.git', 'a/alias.git', 'a/linked']) expect(await opens(at(path)), path).toBe(true);
    // a foreign path, one that does not exist, and one reached only through a link in a granted path
    for (const path of [
      'b/other.git',
      'b/none.git',
      'a/none.git',
      'a/link.git',
      'a/link',
      'a/outside.git',
      'a/half.git',
      'a/tree',
    ])
      expect(await opens(at(path)), path).toBe(missing(at(path)));
    expect(await opens(at('a/own.git'), checks(at(''), [at('a/own.git')]))).toBe(true);
    expect(await opens(at('a/alias.git'), checks(at(''), [at('a/alias.git')]))).toBe(missing(at('a/alias.git')));
    // the root itself may be given as a link
    const named = join(top, 'alias/a/own.git');
    expect(await opens(named, checks(join(top, 'alias'), [`${join(top, 'alias/a')}/*`]))).toBe(true);

    const reads = (directory: string, folder = '', grants = scene.grants) =>
      checks(at(''), grants)
        .checkDirectory(owner, directory, folder)
        .then(
          () => true,
          (error: unknown) => (error as Error).message,
        );
    expect(await reads(at('a/docs'), 'guides')).toBe(true);
    expect(await reads(at('a/docs'), 'guides', [at('a/docs')])).toBe(true);
    const none = expect.stringContaining(`There is no directory ${at('a/docs')}`);
    expect(await reads(at('a/docs'), 'b')).toEqual(none);
    expect(await reads(at('a/docs'), '../../b')).toEqual(none);
    expect(await reads(at('b'))).toEqual(expect.stringContaining(`There is no directory ${at('b')}`));
    expect(await reads('/srv/docs')).toMatch(/^\/srv\/docs is outside DOCKET_SITE_DIRECTORIES/);
  });
});

it('learns all secrets of a job’s project, whatever the job uses of them', async () => {
  const { access, learned } = accessWith({ hasCredential: true });
  (await access.jobOf('job_1'))!.learnSecrets();
  expect(learned).toEqual(
    expect.arrayContaining(['of-the-project', 'of-the-setup', 'Bearer of-the-server', 'of-the-server']),
  );
});
