import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccessStore } from '../../../db/for-service/access.ts';
import { createSessionLookup } from '../../../db/for-service/session-lookup.ts';
import { createProjectCredentialReader } from '../../../db/for-worker/projects/projects.ts';
import { parseKey } from '../../../db/organizations/key-format.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { buildSite, testPepper } from '../../support/database/build.ts';
import { runDocket } from '../../support/stack/docket-process.ts';
import { testKeys, testKeysText } from '../../support/database/encryption.ts';
import { serveCommands, type ServedCommands } from './served.ts';

let served: ServedCommands;
beforeAll(async () => void (served = await serveCommands()));
afterAll(() => served[Symbol.asyncDispose]());

const docket = (line: string, ...more: string[]) => served.docket(...wordsOf(line), ...more);
const docketJson = (line: string, ...more: string[]) => served.docketJson(...wordsOf(line), ...more);
const wordsOf = (line: string) => line.split(' ').map((word) => (word === "''" ? '' : word));

describe('the operator', () => {
  it('creates an organization whose first key manages the rest over HTTP', async () => {
    const { id: org, adminKey } = await docketJson('org create --name', ' Acme ');
    expect(await docket('org list')).toMatch(new RegExp(`^${org} +Acme `, 'm'));
    served.env['DOCKET_API_KEY'] = adminKey;
    expect(await docketJson('project list')).toEqual([]);
    expect(adminKey).not.toBe((await docketJson(`org key ${org}`)).adminKey);
    await expect(docket('org key org_x')).rejects.toThrow('There is no organization "org_x"');
    await docket(`org delete ${org} --yes`);
    await expect(docket(`org delete ${org} --yes`)).rejects.toThrow('There is no organization');
    await served.act();
  });

  it('grants repositories to an organization, and revokes the grants', async () => {
    const { id: org, adminKey } = await docketJson('org create --name Acme');
    served.env['DOCKET_API_KEY'] = adminKey;
    const local = 'project create --repository /srv/git/docs.git';
    await expect(docket(local)).rejects.toThrow(`ask the operator to run "docket org grant ${org} /srv/git/docs.git"`);
    await docket(`org grant ${org} docs.git`);
    const expected = { name: 'docs', forge: 'local', repository: 'file:///srv/git/docs.git' };
    expect(await docketJson(local)).toMatchObject(expected);
    const hosted = 'project create --repository https://github.com/acme/docs --allow https://github.com/acme/more';
    await expect(docket(hosted)).rejects.toThrow(/has no grant/);
    const granted = { organization: org, resource: 'https://github.com/acme/*' };
    expect(await docketJson(`org grant ${org} https://GitHub.com/Acme/*`)).toEqual({ ...granted, granted: 'now' });
    expect(await docketJson(`org grant ${org} https://github.com/acme/*`)).toEqual({ ...granted, granted: 'already' });
    expect(await docketJson(hosted)).toMatchObject({
      forge: 'github',
      allowedRepositories: ['https://github.com/acme/more'],
    });
    expect(await docket('project list')).toContain('/srv/git/docs.git');
    const listed = await docketJson(`org grants ${org}`);
    expect(listed.map(({ resource }: { resource: string }) => resource)).toEqual([
      '/srv/git/docs.git',
      'https://github.com/acme/*',
    ]);
    await docket(`org grant ${org} /srv/git/*`);
    const revoke = async (resource: string) => (await docketJson(`org revoke-grant ${org} ${resource}`)).granted;
    expect(await revoke('/srv/git/docs.git')).toBe('still, by /srv/git/*');
    expect(await revoke('/srv/git/*')).toBe('no longer');
    await expect(docket(`org revoke-grant ${org} /srv/git/docs.git`)).rejects.toThrow(/has no grant/);
    await expect(docket(local)).rejects.toThrow(/There is no repository/);
    await expect(docket(`org grant ${org} /srv/../etc`)).rejects.toThrow(/A grant must be/);
    const { body } = await served.api.ask('/v1/audit', { key: adminKey });
    const logged = body.entries.map(({ action, subject }: { action: string; subject: string }) => [action, subject]);
    expect(logged.slice(0, 2)).toEqual([
      ['grant.revoke', '/srv/git/*'],
      ['grant.revoke', '/srv/git/docs.git'],
    ]);
    expect(logged.at(-1)).toEqual(['organization.create', org]);
  });
});

describe('docket project', () => {
  it('reads a token from standard input, encrypts it, and shows only that there is one', async () => {
    await served.act();
    served.input = 'ghp_first-token\n';
    const created = await docket('project create --repository https://github.com/acme/docs --token-stdin --json');
    const { id, hasForgeToken } = JSON.parse(created);
    expect(hasForgeToken).toBe(true);
    const { pool } = served.database;
    const credentials = createProjectCredentialReader(pool, createSecretBox(testKeys('k1')));
    expect((await credentials.read(id))?.token()).toBe('ghp_first-token');
    const listed = await docket('project list');
    expect(listed).toMatch(/ token .*\n.* set /);
    const stored = JSON.stringify((await pool.query('select * from projects where id = $1', [id])).rows);
    expect(stored).toContain('enc:v1:k1:');
    for (const text of [created, listed, stored]) expect(text).not.toContain('first-token');

    served.input = 'ghp_second-token';
    expect(await docketJson(`project update ${id} --token-stdin`)).toMatchObject({ hasForgeToken: true });
    expect((await credentials.read(id))?.token()).toBe('ghp_second-token');
    await docket(`org grant ${served.org} https://github.com/acme/*`);
    expect(await docketJson(`project update ${id} --remove-token`)).toMatchObject({ hasForgeToken: false });
    expect((await credentials.read(id))?.token()).toBeNull();
  });

  it('unsets settings with an empty text or "none"', async () => {
    const org = await served.act();
    await docket(`org grant ${org} https://github.com/acme/*`);
    const create = 'project create --repository https://github.com/acme/docs --ref trunk --model offline/editor';
    const { id } = await docketJson(`${create} --job-budget 2 --daily-budget 3 --reviewer ada --no-run`);
    expect(await docket(`project show ${id}`)).toMatch(/jobBudgetUsd: +2$/m);
    const update = "--ref '' --model '' --job-budget none --daily-budget none --name Handbook --forge-url ''";
    const changed = await docketJson(
      `project update ${id} ${update} --reviewer '' --run --allow https://github.com/acme/other.git --fetch-host *.example.com`,
    );
    expect(changed).toMatchObject({
      name: 'Handbook',
      defaultRef: null,
      model: null,
      jobBudgetUsd: null,
      dailyBudgetUsd: null,
      forgeUrl: null,
      reviewers: [],
      mayRun: true,
      fetchHosts: ['*.example.com'],
      allowedRepositories: ['https://github.com/acme/other'],
    });
    await expect(docket(`project update ${id}`)).rejects.toMatchObject({
      message: expect.stringContaining('Use at least one option'),
      exitCode: 2,
    });
    expect(await docketJson(`project delete ${id} --yes`)).toEqual({ id, deleted: true });
    await expect(docket(`project show ${id}`)).rejects.toMatchObject({ exitCode: 1, status: 404 });
  });
});

describe('docket key', () => {
  it('shows a key once, and revokes it', async () => {
    const created = await docketJson('key create --kind assistant --expires 30d --name site');
    const parsed = parseKey(created.key);
    expect(parsed).toMatchObject({ kind: 'assistant', id: created.id });
    expect(Date.parse(created.expiresAt)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    for (const list of [await docket('key list'), JSON.stringify(await docketJson('key list'))]) {
      expect(list).toContain(created.id);
      expect(list).not.toContain(parsed?.secret);
    }
    const origins = '--allowed-origin https://docs.example.com --allowed-origin https://*.example.org';
    const allowed = { allowedOrigins: ['https://docs.example.com', 'https://*.example.org'] };
    expect(await docketJson(`key update ${created.id} ${origins} --without-origin allow`)).toMatchObject({
      ...allowed,
      allowsNoOrigin: true,
    });
    expect(await docketJson(`key update ${created.id} --without-origin refuse`)).toMatchObject({
      ...allowed,
      allowsNoOrigin: false,
    });
    expect(await docket('key list')).toContain('https://*.example.org');
    await docket(`key revoke ${created.id}`);
    expect((await createAccessStore(served.database.pool).findKey(created.id))?.revokedAt).toBeInstanceOf(Date);
    expect(await docket('key list')).toMatch(new RegExp(`^${created.id} .* revoked`, 'm'));
    expect((await docketJson('key create --kind admin --expires never')).expiresAt).toBeNull();
  });
});

describe('docket sign-in', () => {
  it('prints a link that signs in once, under a name', async () => {
    const { url } = await docketJson('sign-in --name Ada');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#link=[0-9A-Za-z]{43}$/);
    const link = url.split('=')[1];
    const sessions = createSessionLookup(served.database.pool, testPepper);
    expect(await sessions.openByLink(link)).toMatchObject({ organizationId: served.org, person: 'Ada' });
    expect(await sessions.openByLink(link)).toBeNull();
  });
});

describe('refusals', () => {
  it.each([
    ['project create --repository https://a:b@github.com/x/y', 'user name or password'],
    ['project create --repository /etc/x', 'outside DOCKET_LOCAL_REPOSITORIES'],
    ['project create --repository /srv/git/x --ref=-x', 'must be the name of a branch'],
    ['project create --repository /srv/git/x --fetch-host *', 'must be a host such as docs.example.com'],
    ['project create --repository /srv/git/x --model gpt', 'model'],
    ['project create --repository https://git.example.com/x/y', 'must be on a host'],
    ['project update prj_none --remove-token', 'The project was not found'],
    ['site create --domain x', 'repository or directory'],
    ['site create --domain x --directory /d --repository /srv/git/x', 'repository or directory'],
    ['site create --domain x --directory d', 'absolute'],
    ['site create --domain a/b --directory /d', 'lower-case'],
    ['site create --domain taken --repository https://github.com/acme/docs', 'has this domain'],
    ['site create --domain x --directory /d --path ../x', 'path'],
    ['site create --domain x --directory /d --base-url javascript:x', 'baseUrl'],
    ['site index nope', 'site'],
    ['key revoke nope', 'key'],
    ['key create --kind root', 'Allowed choices'],
    ['key create --kind admin --expires 30', 'a number of days'],
    ['project delete prj_1', '--yes'],
    ['frobnicate', 'unknown command'],
  ])('docket %s', async (line, words) => {
    const org = await served.act();
    await buildSite(served.database.pool, { organizationId: org, domain: 'taken' });
    await expect(docket(line)).rejects.toThrow(words);
    expect(served.printed()).toEqual([]);
  });
});

describe('npm run docket', () => {
  const operator = () => ({ DATABASE_URL: served.database.url, DOCKET_KEY_PEPPER: testPepper });

  it('prints its result or one sentence without secrets, with a matching exit code', { tags: 'slow' }, async () => {
    const created = await runDocket(['org', 'create', '--name', 'Acme', '--json'], operator());
    expect(created).toMatchObject({ code: 0, error: '' });
    expect(JSON.parse(created.out)).toMatchObject({ name: 'Acme' });
    const refused = await runDocket(['key', 'revoke', 'nope'], served.env);
    expect(refused).toEqual({ code: 1, out: '', error: expect.stringMatching(/^The key was not found\.\n$/) });
    const keys = `${testKeysText('k1')},k2:no-key`;
    const misled = await runDocket(['org', 'list'], { ...operator(), DOCKET_ENCRYPTION_KEYS: keys });
    expect(misled).toMatchObject({ code: 1, out: '' });
    expect(misled.error).toMatch(/^DOCKET_ENCRYPTION_KEYS is wrong at entry 2: [^\n]+\.\n$/);
    const unknown = await runDocket(['frobnicate']);
    expect(unknown).toMatchObject({ code: 2, error: expect.stringContaining("unknown command 'frobnicate'") });
    expect(await runDocket(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it(
    'says what to do without a service or database, when it does not answer, and when it is empty',
    { tags: 'slow' },
    async () => {
      const nowhere = await runDocket(['project', 'list']);
      expect(nowhere).toMatchObject({ code: 1, error: expect.stringContaining('Set DOCKET_URL') });
      const away = await runDocket(['project', 'list'], { ...served.env, DOCKET_URL: 'http://127.0.0.1:1' });
      expect(away).toMatchObject({
        code: 1,
        error: expect.stringContaining('does not respond at http://127.0.0.1:1.'),
      });
      const none = await runDocket(['org', 'list']);
      expect(none).toMatchObject({ code: 1, error: expect.stringContaining('npm start') });
      const gone = await runDocket(['org', 'list'], {
        ...operator(),
        DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x',
      });
      expect(gone).toMatchObject({ code: 1, error: expect.stringContaining('cannot be reached') });
      expect(gone.error).not.toContain('secret');
      const server = new URL(served.database.url);
      server.pathname = '/postgres';
      const empty = await runDocket(['org', 'list'], { ...operator(), DATABASE_URL: server.href });
      expect(empty).toMatchObject({ code: 1, error: expect.stringContaining('npm run db:migrate') });
    },
  );
});
