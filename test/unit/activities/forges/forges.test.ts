import { expect, it } from 'vitest';
import { ForgeError, type Forge, type ForgeProject } from '../../../../activities/forges/forge.ts';
import { createForges, type ForgeServers } from '../../../../activities/forges/forges.ts';

const local = { credential: () => null } as unknown as Forge;
const none: ForgeServers = { github: null, gitlab: null, gitea: null };
const at = (forge: ForgeProject['forge'], repository: string, forgeUrl: string | null = null): ForgeProject => ({
  forge,
  forgeUrl,
  repository,
});
const free = { refusal: () => null };
const tokenOf = (forge: Forge, repository: string) => forge.credential(repository)?.token();

it('gives each server the worker’s own credential for it, and no other', async () => {
  const forges = createForges({
    local,
    github: { apiUrl: 'https://api.github.com', token: 'hub', app: null },
    gitlab: { url: 'https://gitlab.com', token: 'lab' },
    gitea: { url: 'https://git.acme.test/gitea', token: 'tea' },
  });
  const cases = [
    ['github', 'https://github.com/acme/docs', 'hub'],
    ['gitlab', 'https://gitlab.com/acme/tools/docs', 'lab'],
    ['gitea', 'https://git.acme.test/gitea/acme/docs', 'tea'],
  ] as const;
  for (const [kind, repository, token] of cases) {
    expect(await tokenOf(forges.forProject(at(kind, repository), free), repository)).toBe(token);
    expect(await forges.credentialOf(repository, free)?.token()).toBe(token);
  }
  expect(forges.forProject(at('local', '/srv/docs.git'), free)).toBe(local);
  for (const [kind] of cases) {
    const elsewhere = at(kind, 'https://other.test/acme/docs');
    expect(() => forges.forProject(elsewhere, free)).toThrow(ForgeError);
    expect(forges.credentialOf(elsewhere.repository, free)).toBeNull();
  }
});

it('prefers the project’s token, for the project’s server', async () => {
  const forges = createForges({ ...none, local, gitlab: { url: 'https://gitlab.com', token: 'lab' } });
  const repository = 'https://git.acme.test/sub/acme/docs';
  const plain = 'https://git.acme.test/acme/docs';
  for (const kind of ['github', 'gitlab', 'gitea'] as const)
    expect(await tokenOf(forges.forProject(at(kind, plain), { token: 'own', ...free }), plain)).toBe('own');
  const below = forges.forProject(at('gitea', repository, 'https://git.acme.test/sub/'), { token: 'own', ...free });
  expect(await tokenOf(below, repository)).toBe('own');
  expect(below.credential('https://git.acme.test/acme/docs')).toBeNull();
  const same = at('gitlab', 'https://gitlab.com/acme/docs');
  expect(await tokenOf(forges.forProject(same, { token: 'own', ...free }), same.repository)).toBe('own');
});

it('creates one forge per job', () => {
  const forges = createForges({ ...none, local, gitea: { url: 'https://git.acme.test', token: 'tea' } });
  const project = at('gitea', 'https://git.acme.test/acme/docs');
  const of = (jobId: string) => forges.forProject(project, { jobId, ...free });
  const first = of('job_1');
  expect(of('job_1')).toBe(first);
  expect(of('job_2')).not.toBe(first);
  for (let count = 0; count < 300; count += 1) of(`job_${count + 10}`);
  expect(of('job_1')).not.toBe(first);
});

it.each([
  ['github', /GITHUB_TOKEN/],
  ['gitlab', /GITLAB_TOKEN/],
  ['gitea', /GITEA_TOKEN and GITEA_URL/],
] as const)('names the remedy if the worker has no token for %s', (kind, remedy) => {
  const forges = createForges({ ...none, local });
  expect(() => forges.forProject(at(kind, 'https://git.acme.test/acme/docs'), free)).toThrow(
    expect.objectContaining({ kind: 'authentication', message: expect.stringMatching(remedy) }),
  );
});
