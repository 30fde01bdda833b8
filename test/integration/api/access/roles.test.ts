import { beforeAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../api/openapi/routes.ts';
import { roleOf } from '../../../../api/http/define-route.ts';
import { includesRole, roles, type Role } from '../../../../lib/roles.ts';
import { readDescription, type Operation } from '../../../suites/fuzz/description.ts';
import { buildKey, buildOrganization } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi, type Answer } from '../serve.ts';
import { bodyOf, createAsker, pathOf } from './described-requests.ts';
import { createOwner, receiver, type Owner } from './owner.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_TRUSTED_PROXIES: '1',
    DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host,
  }),
);
let operations: Operation[];
let asker: ReturnType<typeof createAsker>;
let owner: Owner;

const needed = new Map(Object.entries(routes).map(([id, route]) => [id, roleOf(route)]));

beforeAll(async () => {
  asker = createAsker(api);
  operations = (await readDescription(api.url)).operations.filter(({ key }) => key === 'admin');
  owner = await createOwner(database.pool, api);
});

async function keyOf(role: Role): Promise<{ key: string; row: { id: string } }> {
  return buildKey(database.pool, { organizationId: owner.organizationId, role });
}

function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

describe('a role', () => {
  it.each(roles)('%s may do exactly what the routes declare for it', async (role) => {
    const { key } = await keyOf(role);
    const refused = [];
    // operations that end a resource come last, so that each operation finds its resource
    for (const operation of operations.toSorted((a, b) => Number(ends(a)) - Number(ends(b)))) {
      const { ids } = owner;
      const { status, body } = await asker(operation, key, {
        path: pathOf(operation, ids),
        json: bodyOf(operation, ids),
      });
      if (status !== 403) continue;
      expect(body.error).toMatch(/^This requires the (admin|member) role\./);
      refused.push(operation.id);
    }
    const expected = operations.filter(({ id }) => !includesRole(role, needed.get(id)!)).map(({ id }) => id);
    expect(refused.toSorted()).toEqual(expected.toSorted());
    expect(expected.length > 0).toBe(role !== 'admin');
  });

  it('of a viewer changes nothing, and that of a member no settings', () => {
    const declared = (role: Role) => operations.filter(({ id }) => needed.get(id) === role);
    expect(declared('viewer').filter(({ method }) => method !== 'GET')).toEqual([]);
    const paths = declared('member').map(({ template }) => template.split('/').find((part) => subjects.has(part)));
    expect(new Set(paths)).toEqual(subjects);
  });

  it('is also that of a session, which has the lesser one of its key and its link', async () => {
    for (const [ofKey, ofLink, result] of [
      ['admin', 'viewer', 'viewer'],
      ['admin', 'member', 'member'],
      ['admin', undefined, 'admin'],
    ] as const) {
      const { key } = await keyOf(ofKey);
      const { body } = await api.ask('/v1/sign-in-links', { key, json: { name: 'Ada', role: ofLink } });
      const signedIn = await api.ask('/v1/session', { json: { link: body.link } });
      expect(signedIn.body).toMatchObject({ person: 'Ada', role: result });
      const headers = { cookie: cookieOf(signedIn), origin: api.url };
      const created = await api.ask('/v1/keys', { method: 'POST', json: { kind: 'assistant' }, headers });
      expect(created.status).toBe(result === 'admin' ? 201 : 403);
      expect((await api.ask('/v1/jobs', { headers })).status).toBe(200);
      expect((await api.ask('/v1/session', { method: 'DELETE', headers })).status).toBe(204);
    }
    const { key } = await keyOf('viewer');
    expect((await api.ask('/v1/session', { json: { key } })).body.role).toBe('viewer');
    expect((await api.ask('/v1/sign-in-links', { key, json: { role: 'admin' } })).status).toBe(403);
  });

  it('changes for a session when it changes for its key, which only another admin can do', async () => {
    const [admin, other] = [await keyOf('admin'), await keyOf('admin')];
    const change = (key: string, id: string, role: Role) =>
      api.ask(`/v1/keys/${id}`, { method: 'PATCH', key, json: { role } });
    const headers = { cookie: cookieOf(await api.ask('/v1/session', { json: { key: other.key } })), origin: api.url };
    expect((await change(other.key, other.row.id, 'viewer')).status).toBe(409);
    for (const role of ['member', 'viewer'] as const) {
      expect((await change(admin.key, other.row.id, role)).body).toMatchObject({ kind: 'admin', role });
      expect((await api.ask('/v1/session', { headers })).body.role).toBe(role);
    }
  });

  it('of an admin remains with one key of the organization', async () => {
    const { id: organizationId } = await buildOrganization(database.pool);
    const build = (role: Role) => buildKey(database.pool, { organizationId, role });
    const [own, member] = [await build('admin'), await build('member')];
    const revoke = (id: string, key: string) => api.ask(`/v1/keys/${id}`, { key, method: 'DELETE' });
    const refused = await revoke(own.row.id, own.key);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'This is the last key of the organization with the admin role. Create another one first.',
    ]);
    expect((await revoke(member.row.id, own.key)).status).toBe(204);
    const second = await build('admin');
    expect((await revoke(own.row.id, second.key)).status).toBe(204);
  });

  it('is for admin keys only', async () => {
    const json = { kind: 'assistant', role: 'viewer' };
    const answer = await api.ask('/v1/keys', { key: owner.keys.admin, json });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('role for an assistant key')]);
    const { body } = await api.ask('/v1/keys', { key: owner.keys.admin, json: { kind: 'assistant' } });
    expect(body.role).toBeNull();
    const change = { method: 'PATCH', key: owner.keys.admin, json: { role: 'viewer' } };
    expect((await api.ask(`/v1/keys/${body.id}`, change)).status).toBe(404);
  });
});

/** Parts of paths that name what a member works on. */
const subjects = new Set(['job', 'pull-requests', 'gaps', 'question-sets', 'evaluations', 'index']);

/** Reports whether an operation ends what other operations need. */
function ends({ id, method }: Operation): boolean {
  return method === 'DELETE' || ['signOutAll', 'closePullRequest'].includes(id);
}
