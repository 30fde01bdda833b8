import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { buildOrganization, buildSite } from '../../support/build.ts';
import { createTestCommands } from '../../support/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const { docket, docketJson } = createTestCommands(() => database);

describe('docket site', () => {
  it('changes what is named of a site, and indexes it again when its pages come from elsewhere', async () => {
    const org = (await buildOrganization(database.pool)).id;
    const source = ['--repository', '/srv/git/docs.git', '--ref', 'next', '--refresh-minutes', '30'];
    const site = await docketJson('site', 'create', '--org', org, '--domain', 'changing', ...source);
    const sites = createSiteIndexing(database.pool);
    const answerRequest = async () => sites.answerIndexRequest(site.id, (await sites.readIndexRequest(site.id)) ?? '');
    await answerRequest();

    const days = ['--retention-days', '7', '--refresh-minutes', '0', '--base-url', 'https://docs.example.com'];
    expect(await docketJson('site', 'update', 'changing', ...days)).toMatchObject({
      repository: '/srv/git/docs.git',
      ref: 'next',
      retentionDays: 7,
      refreshMinutes: null,
      baseUrl: 'https://docs.example.com',
      indexRequestedAt: null,
    });
    const moved = await docketJson(
      'site',
      'update',
      'changing',
      '--directory',
      '/srv/docs',
      '--path',
      'v2',
      '--ref',
      '',
    );
    expect(moved).toMatchObject({ repository: null, directory: '/srv/docs', path: 'v2', ref: null, retentionDays: 7 });
    expect(moved.indexRequestedAt).not.toBeNull();

    await expect(docket('site', 'update', 'changing')).rejects.toThrow(/Name what to change/);
    await expect(docket('site', 'update', 'changing', '--repository', 'https://elsewhere.org/a/b')).rejects.toThrow(
      /must be on an allowed/,
    );
    await expect(docket('site', 'update', 'nowhere', '--ref', 'main')).rejects.toThrow(/no site "nowhere"/);
  });

  it('removes a site only when it is told to for certain', async () => {
    const { id, domain } = await buildSite(database.pool);
    await expect(docket('site', 'delete', domain)).rejects.toThrow(/say --yes/);
    expect(await createSiteIndexing(database.pool).get(id)).not.toBeNull();
    expect(await docketJson('site', 'delete', domain, '--yes')).toEqual({ id, domain, deleted: true });
    await expect(docket('site', 'delete', domain, '--yes')).rejects.toThrow(/no site/);
  });
});
