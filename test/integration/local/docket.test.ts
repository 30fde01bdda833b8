import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKey } from '../../../db/organizations/key-format.ts';
import { createAccessStore } from '../../../db/for-service/access.ts';
import { createProjectCredentialReader } from '../../../db/for-worker/projects.ts';
import { createSessionLookup } from '../../../db/for-service/session-lookup.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { buildOrganization, buildSite, testPepper } from '../../support/build.ts';
import { testKeys, testKeysText } from '../../support/encryption.ts';
import { createTestCommands } from '../../support/commands.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

/** What standard input holds. */
let input = '';
const { docket, docketJson, printed } = createTestCommands(
  () => database,
  () => ({ readInput: () => Promise.resolve(input) }),
);

const newOrganization = async () => (await buildOrganization(database.pool)).id;

/** Runs the program as `npm run docket` does. */
async function runProcess(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [resolve('cli/docket.ts'), ...args], {
    env: {
      PATH: process.env['PATH'],
      DOCKET_HOME: '/nowhere/docket',
      DATABASE_URL: database.url,
      DOCKET_KEY_PEPPER: testPepper,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code };
}

describe('docket', () => {
  it('creates an organization, a project and a site, and lists them', async () => {
    const { id: org } = await docketJson('org', 'create', '--name', ' Acme ');
    expect(await docket('org', 'list')).toMatch(new RegExp(`^${org} +Acme `, 'm'));
    const local = ['project', 'create', '--org', org, '--repository', '/srv/git/docs.git'];
    await expect(docket(...local)).rejects.toThrow(
      `ask the operator to run "docket org grant ${org} /srv/git/docs.git"`,
    );
    await docket('org', 'grant', org, 'docs.git');
    const project = await docketJson(...local);
    const expected = { organizationId: org, name: 'docs', forge: 'local', repository: '/srv/git/docs.git' };
    expect(project).toMatchObject(expected);
    const hosted = ['--repository', 'https://github.com/acme/docs', '--allow', 'https://github.com/acme/more'];
    await expect(docket('project', 'create', '--org', org, ...hosted)).rejects.toThrow(/has no grant/);
    expect(await docketJson('org', 'grant', org, 'https://GitHub.com/Acme/*')).toEqual({
      organization: org,
      resource: 'https://github.com/acme/*',
      granted: 'now',
    });
    expect(await docketJson('org', 'grant', org, 'https://github.com/acme/*')).toMatchObject({ granted: 'already' });
    expect(await docketJson('project', 'create', '--org', org, ...hosted)).toMatchObject({
      forge: 'github',
      allowedRepositories: ['https://github.com/acme/more'],
    });
    expect(await docket('project', 'list', '--org', org)).toContain('/srv/git/docs.git');

    const source = ['--repository', '/srv/git/docs.git', '--path', '/docs/./v2/', '--refresh-minutes', '30'];
    const site = await docketJson('site', 'create', '--org', org, '--domain', 'acme', ...source);
    expect(site).toMatchObject({ domain: 'acme', path: 'docs/v2', retentionDays: 30, refreshMinutes: 30 });
    expect((await createSiteIndexing(database.pool).get(site.id))?.indexRequestedAt).toBeInstanceOf(Date);
    const listed = await docketJson('site', 'list', '--org', org);
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([site.id]);

    const granted = await docketJson('org', 'grants', org);
    expect(granted.map(({ resource }: { resource: string }) => resource)).toEqual([
      '/srv/git/docs.git',
      'https://github.com/acme/*',
    ]);
    await docket('org', 'revoke-grant', org, '/srv/git/docs.git');
    await expect(docket('org', 'revoke-grant', org, '/srv/git/docs.git')).rejects.toThrow(/has no grant/);
    await expect(docket('site', 'update', 'acme', '--repository', '/srv/git/docs.git')).rejects.toThrow(
      /There is no repository/,
    );
    await expect(docket('org', 'grant', org, '/srv/../etc')).rejects.toThrow(/A grant must be/);
  });

  it('takes the token of a project from standard input, seals it, and shows only that there is one', async () => {
    const org = await newOrganization();
    input = 'ghp_first-token\n';
    const hosted = ['--repository', 'https://github.com/acme/docs', '--token-stdin'];
    const created = await docket('project', 'create', '--org', org, ...hosted, '--json');
    const { id, hasCredential } = JSON.parse(created);
    expect(hasCredential).toBe(true);
    const credentials = createProjectCredentialReader(database.pool, createSecretBox(testKeys('k1')));
    expect(await credentials.read(id)).toBe('ghp_first-token');
    const listed = await docket('project', 'list', '--org', org);
    expect(listed).toMatch(/ token .*\n.* set /);
    const stored = JSON.stringify((await database.pool.query('select * from projects where id = $1', [id])).rows);
    expect(stored).toContain('enc:v1:k1:');
    for (const text of [created, listed, stored]) expect(text).not.toContain('first-token');

    input = 'ghp_second-token';
    expect(await docketJson('project', 'update', id, '--token-stdin')).toMatchObject({ hasCredential: true });
    expect(await credentials.read(id)).toBe('ghp_second-token');
    expect(await docketJson('project', 'update', id, '--remove-token')).toMatchObject({ hasCredential: false });
    expect(await credentials.read(id)).toBeNull();
  });

  it('refuses a token that is none, one for the local forge, and an update that changes nothing', async () => {
    const org = await newOrganization();
    const hosted = ['project', 'create', '--org', org, '--repository', 'https://github.com/acme/docs', '--token-stdin'];
    for (input of ['', ' \n', 'two words', 'ghp_1\nghp_2'])
      await expect(docket(...hosted)).rejects.toThrow(/the token and/);
    expect(await docketJson('project', 'list', '--org', org)).toEqual([]);
    input = 'ghp_token';
    const local = ['project', 'create', '--org', org, '--repository', '/srv/git/docs.git'];
    await expect(docket(...local, '--token-stdin')).rejects.toThrow('The local forge needs no token.');
    const { id } = await docketJson(...local);
    await expect(docket('project', 'update', id, '--token-stdin')).rejects.toThrow('The local forge needs no token.');
    await expect(docket('project', 'update', id)).rejects.toThrow(/Name at least one change/);
    await expect(docket('project', 'update', 'prj_none', '--remove-token')).rejects.toThrow(/There is no project/);
  });

  it('shows a key once, and revokes it', async () => {
    const created = await docketJson(
      'key',
      'create',
      '--org',
      await newOrganization(),
      '--kind',
      'assistant',
      '--expires',
      '30d',
    );
    const parsed = parseKey(created.key);
    expect(parsed).toMatchObject({ kind: 'assistant', id: created.id });
    for (const list of [await docket('key', 'list'), JSON.stringify(await docketJson('key', 'list'))]) {
      expect(list).toContain(created.id);
      expect(list).not.toContain(parsed?.secret);
      expect(list).not.toContain('digest');
    }
    await docket('key', 'revoke', created.id);
    expect((await createAccessStore(database.pool).findKey(created.id))?.revokedAt).toBeInstanceOf(Date);
    expect(await docket('key', 'list')).toMatch(new RegExp(`^${created.id} .* revoked`, 'm'));
  });

  it('waits for an index that was asked for, and tells how it ended', async () => {
    const sites = createSiteIndexing(database.pool);
    const { id, domain } = await buildSite(database.pool);
    await sites.recordIndexFailure(id, { category: 'internal', message: 'An old failure.' });
    const finish = async (message: string | null) => {
      await expect.poll(() => sites.readIndexRequest(id)).not.toBeNull();
      const request = await sites.readIndexRequest(id);
      if (message === null)
        await database.pool.query('update sites set index_failure_message = null where id = $1', [id]);
      else await sites.recordIndexFailure(id, { category: 'site_unreadable', message });
      await sites.answerIndexRequest(id, request!);
    };
    const [shown] = await Promise.all([docketJson('site', 'index', domain, '--wait'), finish(null)]);
    expect(shown).toMatchObject({ id, indexRequestedAt: null });
    await Promise.all([
      expect(docket('site', 'index', domain, '--wait')).rejects.toThrow('could not be indexed. No pages.'),
      finish('No pages.'),
    ]);
  });

  it('takes settings of a project back by an empty text or "none"', async () => {
    const org = await newOrganization();
    const words = (line: string) => line.split(' ').map((word) => (word === "''" ? '' : word));
    const create = 'project create --repository https://github.com/acme/docs --ref trunk --model offline/editor';
    const { id } = await docketJson(...words(`${create} --job-budget 2 --daily-budget 3 --org ${org}`));
    const update = "--ref '' --model '' --job-budget none --daily-budget none --name Handbook --forge-url ''";
    const changed = await docketJson(
      ...words(`project update ${id} ${update} --allow https://github.com/acme/other.git`),
    );
    expect(changed).toMatchObject({
      name: 'Handbook',
      defaultRef: null,
      model: null,
      jobBudgetMicros: null,
      dailyBudgetMicros: null,
      forgeUrl: null,
      allowedRepositories: ['https://github.com/acme/other'],
    });
    expect(
      (await docketJson('key', 'create', '--org', org, '--kind', 'admin', '--expires', 'never')).expiresAt,
    ).toBeNull();
  });

  it('prints a link that signs in, for the one organization or the named one', async () => {
    const org = await newOrganization();
    await expect(docket('sign-in', '--org', org)).rejects.toThrow('has no valid admin key');
    await docket('key', 'create', '--org', org, '--kind', 'admin');
    const { url } = await docketJson('sign-in', '--org', org);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:8080\/sign-in#link=[0-9A-Za-z]{43}$/);
    const link = url.split('=')[1];
    const sessions = createSessionLookup(database.pool, testPepper);
    expect(await sessions.openByLink(link)).toMatchObject({ organizationId: org });
    expect(await sessions.openByLink(link)).toBeNull();
  });

  it.each([
    [
      'an unknown organization',
      'project create --org org_x --repository /srv/git/x',
      'There is no organization "org_x"',
    ],
    [
      'a repository with a credential',
      'project create --org ORG --repository https://a:b@github.com/x/y',
      'user name or password',
    ],
    ['a repository outside the local root', 'project create --org ORG --repository /etc/x', 'outside the folder'],
    [
      'a further repository on another host',
      'project create --org ORG --repository /srv/git/x --allow https://evil.example/x',
      '',
    ],
    [
      'a ref that is an option',
      'project create --org ORG --repository /srv/git/x --ref=-x',
      'must be the name of a branch',
    ],
    ['a model without a provider', 'project create --org ORG --repository /srv/git/x --model gpt', '--model'],
    ['a site without a source', 'site create --org ORG --domain x', '--repository or --directory'],
    [
      'a site with two sources',
      'site create --org ORG --domain x --directory /d --repository /srv/git/x',
      '--repository or --directory',
    ],
    ['a relative directory', 'site create --org ORG --domain x --directory d', 'absolute'],
    ['a domain with a slash', 'site create --org ORG --domain a/b --directory /d', 'lower-case'],
    ['a domain that the organization has', 'site create --org ORG --domain taken --directory /d', 'taken'],
    ['a folder that climbs', 'site create --org ORG --domain x --directory /d --path ../x', '--path'],
    [
      'a base address that is a script',
      'site create --org ORG --domain x --directory /d --base-url javascript:x',
      '--base-url',
    ],
    ['a refresh of no minutes', 'site create --org ORG --domain x --directory /d --refresh-minutes 0', 'whole number'],
    ['an unknown site', 'site index nope', 'There is no site "nope"'],
    ['an unknown key', 'key revoke nope', 'There is no key "nope"'],
    ['an unknown kind of key', 'key create --org ORG --kind root', 'Allowed choices'],
    ['an unknown command', 'frobnicate', 'unknown command'],
  ])('refuses %s', async (_name, line, words) => {
    const org = await newOrganization();
    await buildSite(database.pool, { organizationId: org, domain: 'taken' });
    const args = line.split(' ').map((arg) => (arg === 'ORG' ? org : arg));
    await expect(docket(...args)).rejects.toThrow(words);
    expect(printed()).toEqual([]);
  });
});

describe('npm run docket', () => {
  it('prints what it did, or one sentence that holds no secret', { tags: 'slow' }, async () => {
    const created = await runProcess(['org', 'create', '--name', 'Acme', '--json']);
    expect(created).toMatchObject({ code: 0, error: '' });
    expect(JSON.parse(created.out)).toMatchObject({ name: 'Acme' });
    const refused = await runProcess(['key', 'revoke', 'nope']);
    expect(refused).toEqual({ code: 1, out: '', error: 'There is no key "nope"; "docket key list" shows the ids.\n' });
    const keys = `${testKeysText('k1')},k2:no-key`;
    const misled = await runProcess(['org', 'list'], { DOCKET_ENCRYPTION_KEYS: keys });
    expect(misled).toMatchObject({ code: 1, out: '' });
    expect(misled.error).toMatch(/^DOCKET_ENCRYPTION_KEYS is wrong at entry 2: [^\n]+\.\n$/);
    const unknown = await runProcess(['frobnicate']);
    expect(unknown).toMatchObject({ code: 1, error: expect.stringContaining("unknown command 'frobnicate'") });
  });

  it('says what to do without a database, when it does not answer, and when it is empty', async () => {
    const none = await runProcess(['org', 'list'], { DATABASE_URL: '' });
    expect(none).toMatchObject({ code: 1, error: expect.stringContaining('npm start') });
    const gone = await runProcess(['org', 'list'], { DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x' });
    expect(gone).toMatchObject({ code: 1, error: expect.stringContaining('cannot be reached') });
    expect(gone.error).not.toContain('secret');
    const server = new URL(database.url);
    server.pathname = '/postgres';
    const empty = await runProcess(['org', 'list'], { DATABASE_URL: server.href });
    expect(empty).toMatchObject({ code: 1, error: expect.stringContaining('npm run db:migrate') });
  });
});
