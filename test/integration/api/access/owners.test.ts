import { expect, it } from 'vitest';
import { buildKey, buildOrganization, buildProject, buildSite, readSite } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { comparable, serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

it('hides another organization’s resources as if they did not exist', async () => {
  const { pool } = database;
  const { id: organizationId } = await buildOrganization(pool);
  const { key } = await buildKey(pool, { organizationId });
  const theirs = await buildProject(pool);
  const site = await buildSite(pool, { organizationId: theirs.organizationId });
  const { row } = await buildKey(pool, theirs);
  const pairs = [
    [`/v1/projects/${theirs.id}`, '/v1/projects/prj_none'],
    [`/v1/sites/${site.domain}`, '/v1/sites/none'],
    [`/v1/keys/${row.id}`, '/v1/keys/none'],
  ] as const;
  for (const [foreign, missing] of pairs) {
    for (const method of foreign.startsWith('/v1/keys') ? ['DELETE'] : ['GET', 'PATCH']) {
      const json = method === 'PATCH' ? { name: 'mine' } : undefined;
      const answers = [await api.ask(foreign, { key, method, json }), await api.ask(missing, { key, method, json })];
      expect(answers[0]?.status).toBe(404);
      expect(comparable(answers[0]!)).toEqual(comparable(answers[1]!));
    }
  }
  expect((await api.ask(`/v1/sites/${site.domain}`, { key, method: 'DELETE' })).status).toBe(404);
  for (const path of ['/v1/projects', '/v1/sites'])
    expect(Object.values((await api.ask(path, { key })).body)[0]).toEqual([]);
  // a domain does not reveal whether others use it
  const json = { domain: site.domain, directory: '/srv/pages' };
  const made = await api.ask('/v1/sites', { key, json });
  expect(made.status).toBe(201);
  expect(made.body.id).not.toBe(site.id);
  const changed = await api.ask(`/v1/sites/${site.domain}`, { key, method: 'PATCH', json: { path: 'mine' } });
  expect(changed.body).toMatchObject({ id: made.body.id, path: 'mine' });
  expect(await readSite(pool, site.id)).toEqual(site);
});
