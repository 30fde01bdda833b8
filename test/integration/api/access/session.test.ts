import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { createKeyStore, type KeyRow } from '../../../../db/organizations/keys.ts';
import { createSessionStore } from '../../../../db/organizations/sessions.ts';
import { buildJob, buildKey, buildProject, buildSite, testPepper } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { untilEarlyIn } from '../../../support/early-in.ts';
import { comparable, serveApi } from '../serve.ts';
import type { Answer } from '../serve.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const dashboard = temporaryDirectory();
const api = ofFile(() =>
  serveApi(database.pool, {
    DASHBOARD: dashboard,
    DOCKET_TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
  }),
);
const project = ofFile(() => buildProject(database.pool));

const ours = () => ({ origin: api.url });

function cookieOf(answer: Answer): string {
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}

async function newKey(kind: 'admin' | 'assistant' = 'admin', expiresInDays?: number) {
  return buildKey(database.pool, { organizationId: project.organizationId, kind, expiresInDays });
}

async function signIn(): Promise<{ cookie: string; keyId: string }> {
  const { key, row } = await newKey();
  const answer = await api.ask('/v1/session', { json: { key } });
  expect(answer.status).toBe(201);
  return { cookie: cookieOf(answer), keyId: row.id };
}

describe('signing in', () => {
  it('exchanges an admin key for a cookie that scripts and other sites cannot read, and describes the organization', async () => {
    const site = await buildSite(database.pool, { organizationId: project.organizationId });
    const { key } = await newKey();
    const answer = await api.ask('/v1/session', { json: { key }, headers: ours() });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^docket_session=ses_\w+\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(answer.body).toMatchObject({
      organization: { id: project.organizationId, name: 'Acme' },
      projects: [{ id: project.id, name: 'Docs' }],
      sites: [{ domain: site.domain }],
      defaults: { agentModel: 'offline/editor', assistantModel: 'offline/extract' },
      models: expect.arrayContaining([{ name: 'offline/editor', inputUsd: 0, outputUsd: 0, problem: null }]),
      temporalUiUrl: 'http://127.0.0.1:8233',
      temporalNamespace: 'default',
    });
    const again = await api.ask('/v1/session', { headers: { cookie: cookieOf(answer) } });
    expect(again.body).toEqual(answer.body);
    expect(api.log()).not.toContain(key);
  });

  it('refuses assistant keys, unknown and ended keys, and bodies with neither or both', async () => {
    const assistant = (await newKey('assistant')).key;
    const ended = (await newKey('admin', -1)).key;
    const statuses = [];
    for (const json of [{ key: assistant }, { key: ended }, { key: 'svc_nonsense' }, {}, { key: 'a', link: 'b' }])
      statuses.push((await api.ask('/v1/session', { json })).status);
    expect(statuses).toEqual([403, 401, 401, 400, 400]);
  });

  it('accepts a link once, however many browsers try at the same time', async () => {
    const { row } = await newKey();
    const link = await createSessionStore(database.pool, testPepper).createLink(operatorOf(row), { keyId: row.id });
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.ask('/v1/session', { json: { link } })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 401, 401, 401, 401]);
    const refused = answers.find(({ status }) => status === 401);
    expect(refused?.body.error).toMatch(/^This sign-in link is invalid, expired or already used/);
    const { rows } = await database.pool.query('select * from sign_in_links');
    expect(JSON.stringify(rows)).not.toContain(link);
    expect(api.log()).not.toContain(link);
  });

  it(
    'does not query the database for links from an address that sent too many wrong ones',
    { tags: 'slow' },
    async () => {
      const { pool } = database;
      await using api = await serveApi(pool, { DOCKET_TRUSTED_PROXIES: '1' });
      const { row } = await newKey();
      const link = await createSessionStore(pool, testPepper).createLink(operatorOf(row), {
        keyId: row.id,
        person: 'Ada',
      });
      const from = (address: string, json: object) =>
        api.ask('/v1/session', { json, headers: { 'x-forwarded-for': address } });
      await untilEarlyIn('minute');
      const statuses = await Promise.all(
        Array.from(
          { length: 101 },
          async (_, at) => (await from('203.0.113.9', { link: `wrong-${at}`.padEnd(43, 'x') })).status,
        ),
      );
      expect(new Set(statuses)).toEqual(new Set([401, 429]));
      // attempts of a guesser's address do not use up those of the valid address
      expect((await from('203.0.113.9', { link })).status).toBe(429);
      expect((await from('203.0.113.10', { link })).status).toBe(201);
      const { rows } = await pool.query(`select person, action from audit_entries where key_id = $1`, [row.id]);
      expect(rows).toEqual([{ person: 'Ada', action: 'session.open' }]);
    },
  );

  it('refuses a link that is too old, whose key was revoked, or from before all sessions were ended', async () => {
    const store = createSessionStore(database.pool, testPepper);
    const linkFor = (row: KeyRow) => store.createLink(operatorOf(row), { keyId: row.id });
    const old = await linkFor((await newKey()).row);
    await database.pool.query(`update sign_in_links set expires_at = now()`);
    const { row } = await newKey();
    const orphan = await linkFor(row);
    await createKeyStore(database.pool, testPepper).revoke(operatorOf(row), row.id);
    const admin = await newKey();
    const unused = await linkFor(admin.row);
    const foreign = await linkFor((await buildKey(database.pool, await buildProject(database.pool))).row);
    expect((await api.ask('/v1/sessions', { method: 'DELETE', key: admin.key })).status).toBe(204);
    expect((await api.ask('/v1/session', { json: { link: foreign } })).status).toBe(201);
    for (const link of [old, orphan, unused])
      expect((await api.ask('/v1/session', { json: { link } })).status).toBe(401);
  });
});

describe('a session', () => {
  it('works like an admin key and like an assistant key', async () => {
    const { cookie } = await signIn();
    const job = await buildJob(database.pool, project);
    const site = await buildSite(database.pool, { organizationId: project.organizationId });
    const headers = { cookie, ...ours() };
    expect((await api.ask(`/v2/agent/${project.id}/job/${job.id}`, { headers: { cookie } })).status).toBe(200);
    expect((await api.ask(`/v2/agent/${project.id}/job`, { headers, json: { prompt: 'x' } })).status).toBe(201);
    // the site has no index yet
    const question = { query: 'lamp' };
    expect((await api.ask(`/discovery/v1/search/${site.domain}`, { headers, json: question })).status).toBe(503);
    const foreign = await buildJob(database.pool, await buildProject(database.pool));
    const missing = await api.ask(`/v2/agent/${project.id}/job/job_unknown`, { headers });
    const theirs = await api.ask(`/v2/agent/${foreign.projectId}/job/${foreign.id}`, { headers });
    expect(comparable(theirs)).toEqual(comparable(missing));
  });

  it('changes nothing on a request from another site', async () => {
    const { cookie } = await signIn();
    const path = `/v2/agent/${project.id}/job`;
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${api.url}.evil.example` },
      { ...ours(), 'sec-fetch-site': 'cross-site' },
      { ...ours(), 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      const answer = await api.ask(path, { headers: { cookie, ...headers }, json: { prompt: 'x' } });
      expect([answer.status, Object.keys(answer.body)]).toEqual([403, ['error']]);
    }
    const { key } = await newKey();
    const login = await api.ask('/v1/session', { json: { key }, headers: { origin: 'https://evil.example' } });
    expect([login.status, login.headers.get('set-cookie')]).toEqual([403, null]);
  });

  it('is refused without the right signature', async () => {
    const { cookie } = await signIn();
    const [name, value = ''] = cookie.split('=');
    const [id, signature = ''] = value.split('.');
    const other = (await signIn()).cookie.split('.')[1];
    for (const forged of [id, `${id}.`, `${id}.${other}`, `${id}.${signature.slice(1)}A`, `${id}.${signature}.`])
      expect((await api.ask('/v1/session', { headers: { cookie: `${name}=${forged}` } })).status).toBe(401);
  });

  it('ends on sign-out, when all sessions are ended, when its key is revoked, and after twelve hours', async () => {
    const endings: ((session: { cookie: string; keyId: string }) => Promise<unknown>)[] = [
      ({ cookie }) => api.ask('/v1/session', { method: 'DELETE', headers: { cookie, ...ours() } }),
      ({ cookie }) => api.ask('/v1/sessions', { method: 'DELETE', headers: { cookie, ...ours() } }),
      ({ keyId }) => createKeyStore(database.pool, testPepper).revoke(operatorOf(project), keyId),
      () => database.pool.query('update sessions set expires_at = now()'),
    ];
    for (const end of endings) {
      const session = await signIn();
      const headers = { cookie: session.cookie };
      expect((await api.ask(`/v2/agent/${project.id}/jobs`, { headers })).status).toBe(200);
      await end(session);
      expect((await api.ask(`/v2/agent/${project.id}/jobs`, { headers })).status).toBe(401);
      expect((await api.ask('/v1/session', { headers })).status).toBe(401);
    }
  });

  it('records who signed in and out', async () => {
    const { cookie, keyId } = await signIn();
    await api.ask('/v1/session', { method: 'DELETE', headers: { cookie, ...ours() } });
    const { rows } = await database.pool.query(
      `select action, session_id = subject as own from audit_entries where organization_id = $1 and key_id = $2 order by id`,
      [project.organizationId, keyId],
    );
    expect(rows).toEqual([
      { action: 'session.open', own: true },
      { action: 'session.close', own: true },
    ]);
  });
});

describe('the dashboard', () => {
  it('is a plain page until it is built', async () => {
    const home = await api.ask('/');
    expect(home.text).toContain('openapi.json');
    expect((await api.ask('/jobs')).status).toBe(404);
  });

  it('is served by file name and at the URLs of the app, compressed, cached by browsers, and updated by a new build', async () => {
    const script = 'console.log("docket")'.repeat(20);
    await mkdir(join(dashboard, 'assets'));
    await writeFile(join(dashboard, 'assets/app-Ab12Cd34.js'), script);
    await writeFile(join(dashboard, 'assets/app-Ab12Cd34.js.br'), brotliCompressSync(script));
    await writeFile(join(dashboard, 'index.html'), '<!doctype html><title>one</title>');

    for (const path of ['/', '/jobs', '/jobs/prj_1/job_1', '/settings/keys']) {
      const page = await api.ask(path);
      expect([page.status, page.headers.get('content-type'), page.text]).toEqual([
        200,
        'text/html; charset=utf-8',
        '<!doctype html><title>one</title>',
      ]);
      expect(page.headers.get('cache-control')).toBe('no-cache');
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'; style-src 'self'");
      expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    }
    const file = await api.ask('/assets/app-Ab12Cd34.js', { headers: { 'accept-encoding': 'br' } });
    expect([file.text, file.headers.get('content-encoding')]).toEqual([script, 'br']);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const etag = file.headers.get('etag') ?? '';
    const known = await api.ask('/assets/app-Ab12Cd34.js', {
      headers: { 'if-none-match': etag, 'cache-control': 'max-age=0' },
    });
    expect(known.status).toBe(304);
    for (const path of ['/assets/none.js', '/assets/..%2f..%2fpackage.json', '/jobs/../../etc/passwd.txt', '/nowhere'])
      expect((await api.ask(path)).status).toBe(404);

    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const unknown = await api.ask('/nowhere', { headers: { accept } });
    expect([unknown.status, unknown.text]).toEqual([404, '<!doctype html><title>one</title>']);
    expect(unknown.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await api.ask('/nowhere')).text).toContain('"error"');
    expect((await api.ask('/v1/session', { headers: { accept } })).text).toContain('"error"');

    await writeFile(join(dashboard, 'index.html'), '<!doctype html><title>two</title>');
    await utimes(join(dashboard, 'index.html'), new Date(), new Date(Date.now() + 5_000));
    expect((await api.ask('/')).text).toContain('two');
  });
});
