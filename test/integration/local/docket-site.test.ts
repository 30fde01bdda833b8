import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSiteStore } from '../../../db/sites.ts';
import { createProgram } from '../../../local/commands/program.ts';
import { buildOrganization, buildSite, testPepper } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testKeys } from '../../support/encryption.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());
afterEach(() => vi.restoreAllMocks());

/** Runs a command in this process and answers what it prints; a refusal is thrown. */
async function docket(...args: string[]): Promise<string> {
  const out: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => out.push(line));
  const program = createProgram((work) =>
    work({
      pool: database.pool,
      keyPepper: testPepper,
      encryptionKeys: testKeys('k1'),
      readInput: () => Promise.resolve(''),
      baseUrl: 'http://127.0.0.1:8080',
      localRoot: '/srv/git',
      allowedHosts: ['github.com'],
      webhookAllowedHosts: [],
      temporal: { address: '127.0.0.1:1', namespace: 'default' },
    }),
  );
  await program.parseAsync(args, { from: 'user' });
  return out.join('\n');
}

async function docketJson(...args: string[]): Promise<any> {
  return JSON.parse(await docket(...args, '--json'));
}

describe('docket site', () => {
  it('changes what is named of a site, and indexes it again when its pages come from elsewhere', async () => {
    const org = (await buildOrganization(database.pool)).id;
    const source = ['--repository', '/srv/git/docs.git', '--ref', 'next', '--refresh-minutes', '30'];
    const site = await docketJson('site', 'create', '--org', org, '--domain', 'changing', ...source);
    const sites = createSiteStore(database.pool);
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
    expect(await createSiteStore(database.pool).get(id)).not.toBeNull();
    expect(await docketJson('site', 'delete', domain, '--yes')).toEqual({ id, domain, deleted: true });
    await expect(docket('site', 'delete', domain, '--yes')).rejects.toThrow(/no site/);
  });
});
