import { expect, it } from 'vitest';
import { siteSchema } from '../../../api/sites/site-schemas.ts';
import { buildKey, buildOrganization } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, { DOCKET_ALLOWED_HOSTS: 'github.com' }));

const added = { kind: 'directory', directory: '/srv', prefix: '' };
const website = { kind: 'website', url: 'https://docs.example.com/guide', prefix: 'guide' };
const blog = { kind: 'repository', repository: 'https://github.com/acme/blog.git', prefix: 'blog', weight: 0.5 };

const issues = { kind: 'issues', repository: 'https://github.com/acme/app', prefix: 'issues' };
const discussions = { ...issues, kind: 'discussions', prefix: 'discussions' };
const forum = { kind: 'discourse', url: 'https://forum.example.com/c/support/6', prefix: 'forum', tags: ['faq'] };

async function newKey(): Promise<string> {
  const { id: organizationId } = await buildOrganization(database.pool);
  return (await buildKey(database.pool, { organizationId })).key;
}

it('are beside the main source of a site, or are all it has', async () => {
  const key = await newKey();
  const created = await api.ask('/v1/sites', {
    key,
    json: { domain: 'many', sources: [added, blog, website, issues, discussions, forum] },
  });
  expect(created.status).toBe(201);
  const sources = [
    { ...added, path: '', weight: 1 },
    { ...blog, repository: 'https://github.com/acme/blog', ref: null, path: '' },
    { ...website, weight: 1 },
    { ...issues, threads: 'answered', labels: [], groups: [], weight: 0.5 },
    { ...discussions, threads: 'answered', labels: [], groups: [], weight: 0.5 },
    { ...forum, threads: 'answered', weight: 0.5 },
  ];
  expect(siteSchema.strict().parse(created.body)).toMatchObject({ repository: null, directory: null, sources });
  await database.pool.query('update sites set index_requested_at = null');
  const change = (json: object) => api.ask('/v1/sites/many', { key, method: 'PATCH', json });
  expect((await change({ sources: [] })).status).toBe(400);
  expect((await change({ repository: 'https://github.com/acme/docs' })).status).toBe(400);
  const moved = await change({ repository: 'https://github.com/acme/docs', sources: [blog] });
  expect(moved.body).toMatchObject({ repository: 'https://github.com/acme/docs', sources: [sources[1]] });
  expect(moved.body.index.requestedAt).not.toBeNull();
  expect((await change({ sources: [] })).body.sources).toEqual([]);
});

it.each<[string, object]>([
  ['the prefix of the main source', { directory: '/srv', sources: [added] }],
  ['two sources at one place', { sources: [added, added] }],
  ['a place above', { directory: '/srv', sources: [{ ...added, prefix: 'a/../b' }] }],
  ['a website of no protocol of the web', { sources: [{ ...website, url: 'file:///etc/passwd' }] }],
  ['a website with a password', { sources: [{ ...website, url: 'https://u:p@docs.example.com/' }] }],
  ['a website with a query', { sources: [{ ...website, url: 'https://docs.example.com/?page=1' }] }],
  ['issues of a repository of this machine', { sources: [{ ...issues, repository: '/srv/git/app' }] }],
  ['issues at a host that is not allowed', { sources: [{ ...issues, repository: 'https://evil.example/a/b' }] }],
  ['issues with a password', { sources: [{ ...issues, repository: 'https://u:p@github.com/acme/app' }] }],
  ['issues over ssh', { sources: [{ ...issues, repository: 'git@github.com:acme/app.git' }] }],
  ['issues in an unknown state', { sources: [{ ...issues, threads: 'open' }] }],
  ['issues for a group without a name', { sources: [{ ...issues, groups: [' '] }] }],
  [
    'discussions at a host that is not allowed',
    { sources: [{ ...discussions, repository: 'https://evil.example/a/b' }] },
  ],
  ['discussions of a repository of this machine', { sources: [{ ...discussions, repository: '/srv/git/app' }] }],
  ['a forum with a password', { sources: [{ ...forum, url: 'https://u:p@forum.example.com/' }] }],
  ['a forum of no protocol of the web', { sources: [{ ...forum, url: 'file:///etc/passwd' }] }],
  ['a forum with a query', { sources: [{ ...forum, url: 'https://forum.example.com/?api_key=1' }] }],
  ['a forum for groups', { sources: [{ ...forum, groups: ['staff'] }] }],
  ['a weight of zero', { sources: [{ ...added, weight: 0 }] }],
  ['a source of no kind', { sources: [{ ...added, kind: 'file' }] }],
  ['a host that is not allowed', { sources: [{ ...blog, repository: 'https://evil.example/a/b' }] }],
  ['eleven sources', { sources: Array.from({ length: 11 }, (_, at) => ({ ...added, prefix: `p${at}` })) }],
])('are refused with %s', async (_what, json) => {
  const answer = await api.ask('/v1/sites', { key: await newKey(), json: { domain: 'refused', ...json } });
  expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
});

it('are refused without a grant', async () => {
  const { id: organizationId } = await buildOrganization(database.pool);
  await database.pool.query('delete from grants where organization_id = $1', [organizationId]);
  const { key } = await buildKey(database.pool, { organizationId });
  const answer = await api.ask('/v1/sites', { key, json: { domain: 'ungranted', sources: [added] } });
  expect(answer.body.error).toMatch(/There is no directory \/srv that the organization may use/);
});
