import { describe, expect, it } from 'vitest';
import { buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi, type Answer } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

describe('a browser', () => {
  it('is signed in to several organizations and switches between them', async () => {
    const ask = (path: string, cookie: string, more: object = {}) =>
      api.ask(path, { ...more, headers: { cookie, origin: api.url } });
    const organizations = [];
    let cookie = '';
    for (let at = 0; at < 3; at += 1) {
      const project = await buildProject(database.pool);
      const { key } = await buildKey(database.pool, project);
      organizations.unshift(project.organizationId);
      cookie = cookieOf(await ask('/v1/session', cookie, { json: { key } }));
      // the newer session of the same organization takes the place of the older one
      cookie = cookieOf(await ask('/v1/session', cookie, { json: { key } }));
    }
    const session = await ask('/v1/session', cookie);
    expect(session.body.organizations.map(({ id }: { id: string }) => id)).toEqual(organizations);
    const switched = await ask('/v1/session/organization', cookie, { json: { id: organizations[2] } });
    expect(switched.body).toMatchObject({ organization: { id: organizations[2] } });
    expect((await ask('/v1/session', cookieOf(switched))).body).toEqual(switched.body);
    expect((await ask('/v1/session', cookie)).body.organization.id).toBe(organizations[0]);
    const { organizationId: id } = await buildProject(database.pool);
    const foreign = await ask('/v1/session/organization', cookie, { json: { id } });
    expect([foreign.status, foreign.headers.get('set-cookie')]).toEqual([404, null]);

    await database.pool.query('update sessions set revoked_at = now() where organization_id = $1', [organizations[1]]);
    const left = await ask('/v1/session', cookieOf(switched));
    expect(left.body.organizations.map(({ id }: { id: string }) => id)).toEqual([organizations[2], organizations[0]]);
    await ask('/v1/session', cookieOf(switched), { method: 'DELETE' });
    expect((await ask('/v1/session', cookie)).status).toBe(401);
  });

  it('is signed in to eight organizations at most', async () => {
    let cookie = '';
    for (let at = 0; at < 10; at += 1) {
      const { key } = await buildKey(database.pool, await buildProject(database.pool));
      const answer = await api.ask('/v1/session', {
        json: { key },
        headers: { cookie, origin: api.url },
      });
      expect(answer.body.organizations).toHaveLength(Math.min(at + 1, 8));
      cookie = cookieOf(answer);
    }
    expect((await api.ask('/v1/session', { headers: { cookie } })).body.organizations).toHaveLength(8);
  });
});
