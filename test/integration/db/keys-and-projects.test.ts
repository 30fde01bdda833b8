import { expect, it } from 'vitest';
import { digestOf, parseKey } from '../../../db/organizations/key-format.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createKeyStore } from '../../../db/organizations/keys.ts';
import { createOrganizationDirectory } from '../../../db/for-operator/organizations.ts';
import { createOrganizationStore } from '../../../db/organizations/organizations.ts';
import { createProjectStore } from '../../../db/organizations/projects.ts';
import { createAccessStore } from '../../../db/for-service/access.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { buildProject } from '../../support/database/build.ts';
import { seedProject } from './seed.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

it('stores of a key only what cannot be reversed', async () => {
  const keys = createKeyStore(database.pool, 'pepper');
  const operator = operatorOf(await seedProject(database.pool));
  const { key, row } = await keys.create(operator, { kind: 'assistant', name: 'site', expiresInDays: 30 });
  const parsed = parseKey(key);
  if (parsed === null) throw new Error('the key does not parse');
  const stored = await createAccessStore(database.pool).findKey(parsed.id);
  expect(stored).toMatchObject({ ...row, kind: 'assistant', revokedAt: null, lastUsedAt: null });
  expect(stored?.digest).toEqual(digestOf('pepper', parsed.secret));
  const dump = JSON.stringify((await database.pool.query('select * from api_keys')).rows);
  expect(dump).not.toContain(parsed.secret);
  expect(row).not.toHaveProperty('digest');
});

it('revokes once, only for its own organization, and records uses in batches', async () => {
  const [keys, lookup] = [createKeyStore(database.pool, 'pepper'), createAccessStore(database.pool)];
  const operator = operatorOf(await seedProject(database.pool));
  await keys.create(operator, { kind: 'admin' });
  const { row } = await keys.create(operator, { kind: 'admin' });
  await lookup.touchKeys([row.id, 'unknown']);
  const other = operatorOf(await seedProject(database.pool));
  expect(await keys.revoke(other, row.id)).toBeNull();
  expect(await lookup.findKey(row.id)).toMatchObject({ revokedAt: null, hasEnded: false });
  expect(await keys.revoke(operator, row.id)).toBe('revoked');
  const revoked = await lookup.findKey(row.id);
  expect(revoked).toMatchObject({ revokedAt: expect.any(Date), lastUsedAt: expect.any(Date), hasEnded: true });
  expect(await keys.revoke(operator, row.id)).toBe('revoked');
  expect((await lookup.findKey(row.id))?.revokedAt).toEqual(revoked?.revokedAt);
  expect(await keys.revoke(operator, 'unknown')).toBeNull();
  expect(await lookup.findKey('un\0known')).toBeNull();
  const expired = await keys.create(operator, { kind: 'assistant', expiresInDays: -1 });
  expect(await lookup.findKey(expired.row.id)).toMatchObject({ hasEnded: true });
  expect((await keys.list(operator, { limit: 10 })).rows).toHaveLength(3);
  expect((await keys.list(other, { limit: 10 })).rows).toEqual([]);
});

it('leaves an organization one valid key with the role admin, also when several are revoked at once', async () => {
  const keys = createKeyStore(database.pool, 'pepper');
  const operator = operatorOf(await seedProject(database.pool));
  const make = async (key: Parameters<typeof keys.create>[1]) => (await keys.create(operator, key)).row.id;
  const admins = [await make({ kind: 'admin' }), await make({ kind: 'admin' }), await make({ kind: 'admin' })];
  const expired = await make({ kind: 'admin', expiresInDays: -1 });
  const member = await make({ kind: 'admin', role: 'member' });
  const ends = await Promise.all(
    admins.map((id, at) => (at === 0 ? keys.update(operator, id, { role: 'viewer' }) : keys.revoke(operator, id))),
  );
  expect(ends.filter((end) => end === 'last-admin')).toHaveLength(1);
  for (const id of [expired, member]) expect(await keys.revoke(operator, id)).toBe('revoked');
});

it('stores organizations and projects as they were created, and each project for its own organization', async () => {
  const directory = createOrganizationDirectory(database.pool);
  const projects = createProjectStore(database.pool, createSecretBox([]));
  const organization = await directory.create({ name: 'Acme' });
  const operator = operatorOf({ organizationId: organization.id });
  expect(await createOrganizationStore(database.pool).get(operator)).toEqual(organization);
  expect(await directory.list()).toContainEqual(organization);
  const project = await projects.create(operator, {
    name: 'web',
    repository: 'https://github.com/acme/web',
    defaultRef: 'main',
    model: 'offline/editor',
    forge: 'github',
    allowedRepositories: ['https://github.com/acme/docs', 'with "quotes", commas'],
  });
  expect(await projects.get(operator, project.id)).toEqual(project);
  expect(project.allowedRepositories).toEqual(['https://github.com/acme/docs', 'with "quotes", commas']);
  expect((await projects.list(operator, { limit: 10 })).rows).toEqual([project]);
  expect(await projects.get(operator, 'prj_unknown')).toBeNull();
  expect(await projects.get(operator, '%00\0')).toBeNull();
  const other = operatorOf(await seedProject(database.pool));
  expect(await projects.get(other, project.id)).toBeNull();
  expect((await projects.list(other, { limit: 10 })).rows).not.toContainEqual(project);
  expect(await projects.update(other, project.id, { name: 'stolen', forgeToken: 'token' })).toBeNull();
  expect(await projects.get(operator, project.id)).toEqual(project);
});

it('finds the project on a repository whatever the case of its address', async () => {
  const { organizationId } = await buildProject(database.pool, { repository: 'https://github.com/acme/app' });
  const docs = await buildProject(database.pool, { organizationId, repository: 'https://github.com/Acme/Docs' });
  await buildProject(database.pool, { organizationId, repository: '/srv/Docs' });
  const { findOn } = createProjectStore(database.pool, createSecretBox([]));
  const owner = { organizationId };
  expect(await findOn(owner, 'https://github.com/acme/docs')).toEqual(docs);
  const same = await buildProject(database.pool, { organizationId, repository: 'https://github.com/acme/docs' });
  expect(await findOn(owner, 'https://github.com/acme/docs')).toEqual(same);
  for (const other of ['/srv/docs', 'https://github.com/acme/other', null])
    expect(await findOn(owner, other)).toBeNull();
});

it('creates one pull request per head, numbered within its repository', async () => {
  const pullRequests = createWorkerPullRequestStore(database.pool);
  const request = { repository: '/r/a.git', base: 'main', title: 'T\0', body: 'B', draft: false };
  const heads = ['one', 'two', 'three', 'one', 'two', 'one'];
  const made = await Promise.all(heads.map((head) => pullRequests.create({ ...request, head })));
  expect(new Set(made.map(({ id }) => id)).size).toBe(3);
  expect(new Set(made.map(({ number }) => number))).toEqual(new Set([1, 2, 3]));
  const elsewhere = await pullRequests.create({ ...request, repository: '/r/b.git', head: 'one' });
  expect(elsewhere).toMatchObject({ number: 1, title: 'T\uFFFD', state: 'open' });
  expect(await pullRequests.findByHead('/r/b.git', 'one')).toEqual(elsewhere);
  expect(await pullRequests.update(elsewhere.id, { draft: true })).toMatchObject({ draft: true, body: 'B' });
  expect(await pullRequests.update('pr_unknown', { title: 'x' })).toBeNull();
  expect(await pullRequests.get(elsewhere.id)).toMatchObject({ draft: true });
});
