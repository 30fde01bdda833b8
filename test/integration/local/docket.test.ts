import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseKey } from '../../../db/key-format.ts';
import { createKeyStore } from '../../../db/keys.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';

const pepper = 'a pepper for tests only';
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

async function docket(args: string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [resolve('local/docket.ts'), ...args], {
    env: {
      PATH: process.env['PATH'],
      DOCKET_HOME: '/nowhere/docket',
      DATABASE_URL: database.url,
      DOCKET_KEY_PEPPER: pepper,
      DOCKET_LOCAL_REPOSITORIES: '/srv/git',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { out, error, code, json: () => JSON.parse(out) as Record<string, any> };
}

async function createOrganization(): Promise<string> {
  const { json } = await docket(['org', 'create', '--name', 'Acme', '--json']);
  return json()['id'];
}

describe('docket', () => {
  it('creates an organization, a project, a site and keys, and lists them', async () => {
    const org = await createOrganization();
    const project = await docket(['project', 'create', '--org', org, '--repository', '/srv/git/docs.git', '--json']);
    expect(project.json()).toMatchObject({ organizationId: org, name: 'docs', forge: 'local', repository: '/srv/git/docs.git' });
    const site = await docket(['site', 'create', '--org', org, '--domain', 'acme', '--repository', '/srv/git/docs.git', '--path', '/docs/', '--json']);
    expect(site.json()).toMatchObject({ domain: 'acme', path: 'docs', retentionDays: 30 });
    expect((await docket(['project', 'list', '--org', org])).out).toContain('/srv/git/docs.git');
    expect((await docket(['site', 'list', '--json'])).json()).toHaveLength(1);
  });

  it('shows a key once, and revokes it', async () => {
    const org = await createOrganization();
    const created = (await docket(['key', 'create', '--org', org, '--kind', 'assistant', '--expires', '30d', '--json'])).json();
    const parsed = parseKey(created['key']);
    expect(parsed).toMatchObject({ kind: 'assistant', id: created['id'] });
    const list = await docket(['key', 'list', '--org', org]);
    expect(list.out).toContain(created['id']);
    expect(list.out).not.toContain(parsed?.secret);
    expect((await docket(['key', 'revoke', created['id']])).code).toBe(0);
    expect((await createKeyStore(database.pool, pepper).find(created['id']))?.revokedAt).not.toBeNull();
  });

  it.each([
    ['an unknown organization', ['project', 'create', '--org', 'org_x', '--repository', '/srv/git/x'], 'There is no organization'],
    ['a repository with a credential', ['project', 'create', '--org', 'ORG', '--repository', 'https://a:b@github.com/x/y'], ''],
    ['a repository outside the local root', ['project', 'create', '--org', 'ORG', '--repository', '/etc/x'], ''],
    ['a site without a source', ['site', 'create', '--org', 'ORG', '--domain', 'x'], '--repository or --directory'],
    ['a domain with a slash', ['site', 'create', '--org', 'ORG', '--domain', 'a/b', '--directory', '/d'], 'lower-case'],
    ['a folder that climbs', ['site', 'create', '--org', 'ORG', '--domain', 'x', '--directory', '/d', '--path', '../x'], '--path'],
    ['an unknown key', ['key', 'revoke', 'nope'], 'There is no key'],
    ['an unknown kind of key', ['key', 'create', '--org', 'ORG', '--kind', 'root'], 'Allowed choices'],
    ['an unknown command', ['frobnicate'], 'unknown command'],
  ])('refuses %s in one sentence', async (_name, args, words) => {
    const org = args.includes('ORG') ? await createOrganization() : '';
    const { code, error, out } = await docket(args.map((arg) => (arg === 'ORG' ? org : arg)));
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(error).toContain(words);
    expect(error).not.toMatch(/^\s+at /m);
    expect(error).not.toContain('a:b');
  });

  it('says what to do without a database, and when it does not answer', async () => {
    const none = await docket(['org', 'list'], { DATABASE_URL: '' });
    expect(none).toMatchObject({ code: 1, error: expect.stringContaining('npm start') });
    const gone = await docket(['org', 'list'], { DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/x' });
    expect(gone).toMatchObject({ code: 1, error: expect.stringContaining('cannot be reached') });
    expect(gone.error).not.toContain('secret');
  });
});
