import { describe, expect, it } from 'vitest';
import { auditPageSchema, createdKeySchema, keyListSchema } from '../../../api/administration/key-schemas.ts';
import { projectListSchema, projectSchema } from '../../../api/administration/project-schemas.ts';
import { siteListSchema, siteSchema } from '../../../api/sites/site-schemas.ts';
import { createProjectCredentialReader } from '../../../db/for-worker/projects/projects.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { buildJob, buildKey, buildOrganization, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { testKeys, testKeysText } from '../../support/database/encryption.ts';
import { createKeyPair } from '../../support/ssh/ssh-server.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_ENCRYPTION_KEYS: testKeysText('k1'),
    DOCKET_ALLOWED_HOSTS: 'github.com,git.example.com',
    DOCKET_LOCAL_REPOSITORIES: '/srv/git',
  }),
);

async function newAdmin(): Promise<{ organizationId: string; key: string }> {
  const { id: organizationId } = await buildOrganization(database.pool);
  return { organizationId, key: (await buildKey(database.pool, { organizationId })).key };
}

async function actions(key: string): Promise<string[]> {
  const { body } = await api.ask('/v1/audit', { key });
  const { entries } = auditPageSchema.parse(body);
  // the operator created the organization and its first key
  return entries.filter(({ actor }) => actor.keyId !== null).map(({ action }) => action);
}

describe('projects', () => {
  it('are created, shown and changed; the token is accepted but never returned', async () => {
    const { key } = await newAdmin();
    const token = 'ghp_the_secret_token';
    const created = await api.ask('/v1/projects', {
      key,
      json: {
        repository: 'https://GitHub.com/acme/docs.git',
        forgeToken: token,
        jobBudgetUsd: 2.5,
        labels: [' docs '],
      },
    });
    expect(created.status).toBe(201);
    expect(projectSchema.strict().parse(created.body)).toMatchObject({
      name: 'docs',
      repository: 'https://github.com/acme/docs',
      forge: 'github',
      hasForgeToken: true,
      jobBudgetUsd: 2.5,
      dailyBudgetUsd: null,
      labels: ['docs'],
    });
    const path = created.headers.get('location') ?? '';
    const changed = await api.ask(path, {
      key,
      method: 'PATCH',
      json: {
        name: 'Handbook',
        defaultRef: 'trunk',
        model: 'offline/editor',
        allowedRepositories: ['https://github.com/acme/other.git'],
        allowedPaths: ['docs/**'],
        mayChangeWorkflows: true,
        mayRun: false,
        checkCommand: 'npm test',
        jobBudgetUsd: null,
        dailyBudgetUsd: 40,
        forgeUrl: 'https://git.example.com/x/',
        forgeToken: token,
        reviewers: ['ada'],
        assignees: ['grace'],
      },
    });
    expect(changed.body).toMatchObject({
      name: 'Handbook',
      defaultRef: 'trunk',
      model: 'offline/editor',
      allowedRepositories: ['https://github.com/acme/other'],
      allowedPaths: ['docs/**'],
      mayChangeWorkflows: true,
      mayRun: false,
      checkCommand: 'npm test',
      jobBudgetUsd: null,
      dailyBudgetUsd: 40,
      forgeUrl: 'https://git.example.com/x',
      reviewers: ['ada'],
      labels: ['docs'],
      hasForgeToken: true,
    });
    expect((await api.ask(path, { key })).body).toEqual(changed.body);
    const listed = await api.ask('/v1/projects', { key });
    expect(projectListSchema.parse(listed.body).projects).toEqual([changed.body]);

    const credentials = createProjectCredentialReader(database.pool, createSecretBox(testKeys('k1')));
    expect((await credentials.read(created.body.id))?.token()).toBe(token);
    const removed = await api.ask(path, { key, method: 'PATCH', json: { forgeToken: null } });
    expect(removed.body.hasForgeToken).toBe(false);
    expect((await credentials.read(created.body.id))?.token()).toBeNull();
    const { text } = await api.ask('/v1/audit', { key });
    for (const said of [created.text, changed.text, listed.text, text, api.log()]) expect(said).not.toContain(token);
    expect(await actions(key)).toEqual(['project.change', 'project.change', 'project.create']);
  });

  it('can move to another repository of their forge, with the checks of a new one; existing jobs keep theirs', async () => {
    const { key, organizationId } = await newAdmin();
    const github = { repository: 'https://github.com/acme/docs' };
    const { body } = await api.ask('/v1/projects', { key, json: { ...github, forgeToken: 'ghp_the_token' } });
    const project = await buildProject(database.pool, { organizationId });
    const job = await buildJob(database.pool, project);
    const move = async (id: string, json: object) =>
      (await api.ask(`/v1/projects/${id}`, { key, method: 'PATCH', json })).status;
    expect(await move(body.id, { repository: 'https://github.com/acme/guide' })).toBe(200);
    // a token belongs to one server, a project to one forge
    expect(await move(body.id, { repository: 'https://git.example.com/acme/docs' })).toBe(400);
    for (const repository of ['https://gitlab.com/acme/docs', '/srv/git/docs.git', 'https://elsewhere.org/a/b', 'x'])
      expect(await move(project.id, { repository })).toBe(400);
    expect(await move(project.id, { repository: 'https://github.com/acme/guide' })).toBe(200);
    const shown = await api.ask(`/v2/agent/${project.id}/job/${job.id}`, { key });
    expect(shown.text).toContain(project.repository);
    await database.pool.query('delete from grants where organization_id = $1', [organizationId]);
    expect(await move(project.id, { repository: 'https://github.com/acme/private' })).toBe(400);
  });

  it('are reached over ssh only with a key and the host keys of their servers', async () => {
    const { key } = await newAdmin();
    const { private: sshKey } = createKeyPair();
    const hostKey = `git.example.com ssh-ed25519 ${'A'.repeat(68)}`;
    const make = (json: object) =>
      api.ask('/v1/projects', {
        key,
        json: { repository: 'git@git.example.com:acme/docs.git', forge: 'gitea', ...json },
      });
    for (const json of [{}, { sshKey }, { sshKnownHosts: [hostKey] }, { sshKey, sshKnownHosts: ['* x y'] }]) {
      const { status, body } = await make(json);
      expect([status, Object.keys(body)]).toEqual([400, ['error']]);
    }
    const locked = await make({ sshKey: createKeyPair('locked').private, sshKnownHosts: [hostKey] });
    expect([locked.status, locked.body.error]).toEqual([400, expect.stringMatching(/passphrase/)]);

    const created = await make({ sshKey, sshKnownHosts: [hostKey] });
    expect(created.status).toBe(201);
    expect(projectSchema.strict().parse(created.body)).toMatchObject({
      repository: 'ssh://git@git.example.com/acme/docs',
      sshKnownHosts: [hostKey],
      hasSshKey: true,
    });
    const credentials = createProjectCredentialReader(database.pool, createSecretBox(testKeys('k1')));
    expect((await credentials.read(created.body.id))?.sshKey()).toBe(sshKey);
    const path = created.headers.get('location') ?? '';
    const change = (json: object) => api.ask(path, { key, method: 'PATCH', json });
    expect((await change({ sshKey: null })).status).toBe(400);
    expect((await change({ sshKnownHosts: [] })).status).toBe(400);
    expect((await credentials.read(created.body.id))?.sshKey()).toBe(sshKey);
    const { private: next } = createKeyPair();
    expect((await change({ sshKey: next })).body.hasSshKey).toBe(true);
    expect((await credentials.read(created.body.id))?.sshKey()).toBe(next);
    const secret = sshKey.split('\n')[3]!;
    const stored = JSON.stringify((await database.pool.query('select * from projects')).rows);
    for (const said of [created.text, locked.text, stored, api.log()]) expect(said).not.toContain(secret);
  });

  it('of a site are not reached over ssh', async () => {
    const { key } = await newAdmin();
    const json = { domain: 'by-ssh', repository: 'git@git.example.com:acme/docs.git' };
    const answer = await api.ask('/v1/sites', { key, json });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/needs a project/)]);
  });

  it('on this machine use the local forge only, and must name their forge if the host does not identify it', async () => {
    const { key } = await newAdmin();
    const made = async (json: unknown) => {
      const { status, body } = await api.ask('/v1/projects', { key, json });
      return [status, body.forge ?? body.error];
    };
    expect(await made({ repository: '/srv/git/lamp.git' })).toEqual([201, 'local']);
    expect(await made({ repository: 'https://git.example.com/acme/docs' })).toEqual([
      400,
      "forge is missing and cannot be detected from the repository's host. Set it.",
    ]);
    expect(await made({ repository: 'https://git.example.com/acme/docs', forge: 'gitea' })).toEqual([201, 'gitea']);
    expect((await made({ repository: '/srv/git/lamp.git', forge: 'github' }))[0]).toBe(400);
    expect((await made({ repository: '/srv/git/lamp.git', forgeToken: 'a-token' }))[0]).toBe(400);
    expect((await made({ repository: 'https://github.com/acme/docs', forge: 'local' }))[0]).toBe(400);
  });

  it.each<[string, unknown]>([
    ['a host that is not allowed', { repository: 'https://evil.example/a/b' }],
    ['a password in the address', { repository: 'https://u:p@github.com/a/b' }],
    ['a path outside of the root', { repository: '/etc/passwd' }],
    ['a blank name', { repository: 'https://github.com/a/b', name: ' ' }],
    ['an unknown model', { repository: 'https://github.com/a/b', model: 'nobody/nothing' }],
    ['a ref that is an option', { repository: 'https://github.com/a/b', defaultRef: '--upload-pack=x' }],
    ['an endless glob', { repository: 'https://github.com/a/b', allowedPaths: ['a'.repeat(501)] }],
    ['an empty glob', { repository: 'https://github.com/a/b', allowedPaths: [''] }],
    ['an environment with a wrong glob', { repository: 'https://github.com/a/b', environment: 'inputs: ["[z-a]"]' }],
    ['a token with a line break', { repository: 'https://github.com/a/b', forgeToken: 'abc\ndefghi' }],
    ['a further repository elsewhere', { repository: 'https://github.com/a/b', allowedRepositories: ['file:///etc'] }],
    ['a script for an address', { repository: 'https://github.com/a/b', forgeUrl: 'javascript:alert(1)' }],
  ])('are refused with %s', async (_what, json) => {
    const { key } = await newAdmin();
    const answer = await api.ask('/v1/projects', { key, json });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
    expect((await api.ask('/v1/projects', { key })).body).toEqual({ projects: [], nextCursor: null });
  });
});

describe('sites', () => {
  it('are created, indexed, changed and deleted', async () => {
    const { key } = await newAdmin();
    const domain = `docs-${Date.now()}`;
    const created = await api.ask('/v1/sites', {
      key,
      json: { domain, repository: 'https://github.com/acme/docs', path: '/docs/', refreshMinutes: 60 },
    });
    expect(created.status).toBe(201);
    expect(siteSchema.strict().parse(created.body)).toMatchObject({
      domain,
      path: 'docs',
      retentionDays: 30,
      refreshMinutes: 60,
      index: { version: 0, pages: 0, indexedAt: null, requestedAt: expect.any(String), failure: null, report: null },
    });
    await database.pool.query('update sites set index_requested_at = null where domain = $1', [domain]);
    const kept = await api.ask(`/v1/sites/${domain}`, { key, method: 'PATCH', json: { retentionDays: 7 } });
    expect([kept.body.retentionDays, kept.body.index.requestedAt]).toEqual([7, null]);
    const answers = { answerBudgetUsd: 2.5, instructions: 'Be formal.', starterQuestions: ['How?', 'Why?'] };
    const told = await api.ask(`/v1/sites/${domain}`, { key, method: 'PATCH', json: answers });
    expect(told.body).toMatchObject({ ...answers, retentionDays: 7 });
    const moved = await api.ask(`/v1/sites/${domain}`, { key, method: 'PATCH', json: { directory: '/srv/pages' } });
    expect(moved.body).toMatchObject({ repository: null, directory: '/srv/pages' });
    expect(moved.body.index.requestedAt).not.toBeNull();
    await database.pool.query('update sites set index_requested_at = null where domain = $1', [domain]);
    const indexed = await api.ask(`/v1/sites/${domain}/index`, { key, method: 'POST' });
    expect([indexed.status, indexed.body.index.requestedAt === null]).toEqual([202, false]);
    expect(siteListSchema.parse((await api.ask('/v1/sites', { key })).body).sites).toEqual([indexed.body]);

    const again = await api.ask('/v1/sites', { key, json: { domain, directory: '/srv/pages' } });
    expect(again.status).toBe(409);
    expect((await api.ask(`/v1/sites/${domain}`, { key, method: 'DELETE' })).status).toBe(204);
    expect((await api.ask(`/v1/sites/${domain}`, { key })).status).toBe(404);
    expect(await actions(key)).toEqual(['site.delete', 'site.index', ...Array(3).fill('site.change'), 'site.create']);
  });

  it.each<[string, object]>([
    ['no source', {}],
    ['two sources', { repository: 'https://github.com/a/b', directory: '/srv' }],
    ['a domain with a slash', { domain: 'a/b', directory: '/srv' }],
    ['a folder above', { directory: '/srv', path: '../x' }],
    ['a relative directory', { directory: 'srv' }],
    ['a script for an address', { directory: '/srv', baseUrl: 'javascript:alert(1)' }],
    ['an index every half minute', { directory: '/srv', refreshMinutes: 0.5 }],
    ['endless instructions', { directory: '/srv', instructions: 'x'.repeat(2_001) }],
    [
      'seven starter questions',
      { directory: '/srv', starterQuestions: Array.from({ length: 7 }, (_, at) => `q${at}`) },
    ],
  ])('are refused with %s', async (_what, json) => {
    const { key } = await newAdmin();
    const answer = await api.ask('/v1/sites', { key, json: { domain: 'refused', ...json } });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });
});

describe('keys', () => {
  it('are shown once, work, and stop working when they are revoked', async () => {
    const { key } = await newAdmin();
    const created = await api.ask('/v1/keys', { key, json: { kind: 'admin', name: 'CI', expiresInDays: 30 } });
    expect(created.status).toBe(201);
    const made = createdKeySchema.strict().parse(created.body);
    expect(made.key).toMatch(/^svc_[0-9A-Za-z]{61}$/);
    const listed = await api.ask('/v1/keys', { key: made.key });
    expect(keyListSchema.parse(listed.body).keys.map(({ name }) => name)).toEqual([null, 'CI']);
    expect(listed.text).not.toContain(made.key.slice(16));
    expect(Date.parse(made.expiresAt!) - Date.parse(made.createdAt)).toBe(30 * 86_400_000);

    for (const status of [204, 204])
      expect((await api.ask(`/v1/keys/${made.id}`, { key, method: 'DELETE' })).status).toBe(status);
    const { body } = await api.ask('/v1/keys', { key });
    expect(body.keys[1].revokedAt).not.toBeNull();
    expect(await actions(key)).toEqual(['key.revoke', 'key.create']);
  });

  it('of the assistant are of the public kind', async () => {
    const { key } = await newAdmin();
    const { body } = await api.ask('/v1/keys', { key, json: { kind: 'assistant' } });
    expect(body.key).toMatch(/^svc_dsc_/);
    expect((await api.ask('/v1/keys', { key: body.key })).status).toBe(403);
  });
});
