import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyText } from '../../../../db/organizations/key-format.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createKeyStore } from '../../../../db/organizations/keys.ts';
import { buildJob, buildKey, buildProject, testPepper } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import type { TestDatabase } from '../../../support/database/database.ts';
import { comparable, serveApi } from '../serve.ts';
import type { ServedApi } from '../serve.ts';

const shared = {} as { database: TestDatabase; api: ServedApi } & Awaited<ReturnType<typeof stage>>;

async function stage({ pool }: TestDatabase) {
  const mine = await buildProject(pool);
  const sibling = await buildProject(pool, { organizationId: mine.organizationId });
  const theirs = await buildProject(pool);
  return {
    mine,
    sibling,
    theirs,
    myJob: await buildJob(pool, mine),
    siblingJob: await buildJob(pool, sibling),
    theirJob: await buildJob(pool, theirs),
    admin: (await buildKey(pool, mine)).key,
    assistant: (await buildKey(pool, { organizationId: mine.organizationId, kind: 'assistant' })).key,
    foreign: (await buildKey(pool, theirs)).key,
    expired: (await buildKey(pool, { organizationId: mine.organizationId, expiresInDays: -1 })).key,
  };
}

beforeAll(async () => {
  const database = await createTestDatabase();
  Object.assign(shared, { database });
  Object.assign(shared, { api: await serveApi(database.pool), ...(await stage(database)) });
});

afterAll(async () => {
  await shared.api?.[Symbol.asyncDispose]();
  await shared.database?.[Symbol.asyncDispose]();
});

function endpoints(projectId: string, jobId: string) {
  return [
    { path: `/v2/agent/${projectId}/job/${jobId}` },
    { path: `/v2/agent/${projectId}/job/${jobId}/diff` },
    { path: `/v2/agent/${projectId}/jobs` },
    { path: `/v2/agent/${projectId}/job`, json: { prompt: 'x' } },
  ];
}

describe('keys', () => {
  it('accepts the right admin key everywhere', async () => {
    const { api, mine, myJob, admin } = shared;
    const answers = await Promise.all(
      endpoints(mine.id, myJob.id).map(({ path, json }) => api.ask(path, { key: admin, json })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 201]);
  });

  it('answers 403 to an assistant key, even though its prefix is that of an admin key', async () => {
    const { api, mine, myJob, assistant } = shared;
    for (const { path, json } of endpoints(mine.id, myJob.id)) {
      const answer = await api.ask(path, { key: assistant, json });
      expect([answer.status, Object.keys(answer.body)]).toEqual([403, ['error']]);
    }
  });

  it('answers 401 with WWW-Authenticate to anything that is not a valid key', async () => {
    const { api, mine, myJob, admin, expired } = shared;
    const unknown = createKeyText('admin').key;
    const headers: Record<string, string>[] = [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer svc_' },
      { authorization: `Basic ${Buffer.from(admin).toString('base64')}` },
      { authorization: admin },
      { authorization: `Bearer ${admin} ${admin}` },
      { authorization: `Bearer ${admin}x` },
      { authorization: `Bearer ${admin.slice(0, -1)}` },
      { authorization: `Bearer ${admin.replace('svc_', 'svc_dsc_')}` },
      { authorization: `Bearer ${unknown}` },
      { authorization: `Bearer ${expired}` },
      { authorization: `Bearer ${'a'.repeat(300)}` },
    ];
    for (const header of headers) {
      const answer = await api.ask(`/v2/agent/${mine.id}/job/${myJob.id}?key=${admin}`, { headers: header });
      expect([header, answer.status, answer.headers.get('www-authenticate'), Object.keys(answer.body)]).toEqual([
        header,
        401,
        'Bearer',
        ['error'],
      ]);
    }
  });

  it.each([
    ['no header', () => ({})],
    ['a key without its scheme', (admin: string) => ({ authorization: admin })],
    ['a scheme without a key', () => ({ authorization: 'Bearer ' })],
    ['another scheme', (admin: string) => ({ authorization: `Token ${admin}` })],
  ])('says how to send a key to a request with %s', async (_what, headersWith) => {
    const { api, mine, myJob, admin } = shared;
    const answer = await api.ask(`/v2/agent/${mine.id}/job/${myJob.id}`, { headers: headersWith(admin) });
    expect(answer.body).toEqual({ error: 'This request requires an API key: Authorization: Bearer <key>.' });
  });

  it('accepts the scheme in any case', async () => {
    const { api, mine, myJob, admin } = shared;
    const headers = { authorization: `bEARER ${admin}` };
    expect((await api.ask(`/v2/agent/${mine.id}/job/${myJob.id}`, { headers })).status).toBe(200);
  });

  it('refuses two Authorization headers', async () => {
    const { api, mine, myJob, admin } = shared;
    const authorization = `Authorization: Bearer ${admin}`;
    const answer = await raw(
      api,
      `GET /v2/agent/${mine.id}/job/${myJob.id} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${authorization}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('stops accepting a revoked key within five seconds', async () => {
    const { api, mine, myJob, database } = shared;
    const { key, row } = await buildKey(database.pool, mine);
    const poll = async () => (await api.ask(`/v2/agent/${mine.id}/job/${myJob.id}`, { key })).status;
    expect(await poll()).toBe(200);
    await createKeyStore(database.pool, testPepper).revoke(operatorOf(row), row.id);
    await expect.poll(poll, { timeout: 10_000, interval: 250 }).toBe(401);
  });

  it('never logs a key', async () => {
    const { api, admin, assistant } = shared;
    expect(api.log()).not.toContain(admin);
    expect(api.log()).not.toContain(assistant);
  });
});

describe('a missing resource and one of another organization', () => {
  it('are the same 404, byte for byte', async () => {
    const { api, mine, sibling, theirs, siblingJob, theirJob, myJob, admin } = shared;
    const paths = [
      [mine.id, 'job_000000000000000000000000'],
      [mine.id, theirJob.id],
      [mine.id, siblingJob.id],
      [sibling.id, myJob.id],
      [theirs.id, theirJob.id],
      ['prj_000000000000000000000000', theirJob.id],
      [mine.id, '%00'],
      [mine.id, '..%2f..%2fetc'],
      [mine.id, `'%22;select`],
      [mine.id, 'a'.repeat(3000)],
      [mine.id, '%F0%9F%98%80'],
      ['%00', 'x'],
    ];
    for (const suffix of ['', '/diff']) {
      const answers = [];
      for (const [projectId, jobId] of paths) {
        answers.push(comparable(await api.ask(`/v2/agent/${projectId}/job/${jobId}${suffix}`, { key: admin })));
      }
      expect(answers[0]).toMatchObject({ status: 404, text: '{"error":"The job was not found."}' });
      // the fast path and the router do not differ for a client
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    }
  });

  it('are the same 404 for a project', async () => {
    const { api, theirs, admin, created } = { ...shared, created: shared.api.created.count };
    for (const json of [undefined, { prompt: 'x' }]) {
      const path = json === undefined ? 'jobs' : 'job';
      const foreign = comparable(await api.ask(`/v2/agent/${theirs.id}/${path}`, { key: admin, json }));
      const missing = comparable(await api.ask(`/v2/agent/prj_000000000000000000000000/${path}`, { key: admin, json }));
      const odd = comparable(await api.ask(`/v2/agent/%00/${path}`, { key: admin, json }));
      expect(foreign).toMatchObject({ status: 404 });
      expect(missing).toEqual(foreign);
      expect(odd).toEqual(foreign);
    }
    expect(api.created.count).toBe(created);
  });
});

describe('addresses', () => {
  it.each([
    ['GET', '/nothing', 404],
    ['GET', '/v2/agent', 404],
    ['GET', '/v2/agent//job/x', 404],
    ['GET', '/%ff', 400],
    ['GET', '/v2/agent/x/job/%', 400],
    ['GET', '/v2/agent/x/job/%c0%af', 400],
    ['GET', `/${'a'.repeat(5000)}`, 400],
    ['GET', `/${'a'.repeat(20_000)}`, 431],
    ['PUT', '/v2/agent/x/job/y', 405],
    ['DELETE', '/v2/agent/x/job', 405],
    ['POST', '/v2/agent/x/jobs', 405],
    ['POST', '/healthz', 405],
    ['PROPFIND', '/healthz', 405],
    ['GET', '/pulls/pr_unknown', 404],
    ['GET', '/pulls/%00', 404],
    ['GET', '/v1/pull-requests/pr_unknown', 401],
  ])('%s %s is %i with one sentence', async (method, path, status) => {
    const answer = await raw(shared.api, `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(Object.keys(JSON.parse(body))).toEqual(['error']);
    expect(body).not.toMatch(/\/work|\.ts\b|\n/);
    if (status === 405) expect(head).toMatch(/\r\nAllow: [A-Z, ]+/);
  });

  it.each([
    ['garbage', 'HELLO\r\n\r\n', 400],
    ['an odd expectation', 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n', 417],
    ['no host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['endless headers', `GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    [
      'two lengths',
      'POST /v2/agent/x/job HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
  ])('answers JSON to %s', async (_, request, status) => {
    const [head = '', body = ''] = (await raw(shared.api, request)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(Object.keys(JSON.parse(body))).toEqual(['error']);
  });

  it('answers OPTIONS with the allowed methods, without CORS on admin endpoints', async () => {
    const { api } = shared;
    const headers = { origin: 'https://docs.example.com', 'access-control-request-method': 'POST' };
    const admin = await api.ask('/v2/agent/x/job', { method: 'OPTIONS', headers });
    expect([admin.status, admin.headers.get('allow')]).toEqual([204, 'OPTIONS, POST']);
    expect([...admin.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    const refused = await api.ask('/v2/agent/x/jobs', { headers });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  });

  it('answers preflights of browser endpoints without a key, and adds CORS headers to their errors', async () => {
    const { api } = shared;
    for (const path of [
      '/discovery/v1/assistant/x/message',
      '/discovery/v2/assistant/x/message',
      '/discovery/v1/search/x',
      '/discovery/v1/suggest/x',
      '/discovery/v1/page/x',
      '/mcp/x',
    ]) {
      const preflight = await api.ask(path, {
        method: 'OPTIONS',
        headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toBe(
        'authorization,content-type,user-agent,x-resume-token,x-reader-token,x-proof-of-work,mcp-protocol-version',
      );
      const error = await api.ask(path, { json: {}, headers: { origin: 'https://a.example' } });
      expect(error.status).toBe(401);
      expect(error.headers.get('access-control-allow-origin')).toBe('*');
      expect(error.headers.get('access-control-expose-headers')).toBe(
        'Link,X-Thread-Id,X-Resume-Token,Retry-After,RateLimit,RateLimit-Policy',
      );
    }
  });
});

describe('endpoints that need no key', () => {
  it('report that the service is alive and ready, and describe it', async () => {
    const { api } = shared;
    expect((await api.ask('/healthz')).body).toEqual({ status: 'ok' });
    expect((await api.ask('/readyz')).body).toEqual({ status: 'ok' });
    const { body } = await api.ask('/openapi.json');
    expect([body.openapi, body.info.version]).toEqual(['3.1.0', '2.0.0']);
    expect((await api.ask('/')).text).toContain('openapi.json');
    expect((await api.ask('/healthz', { method: 'HEAD' })).text).toBe('');
  });
});

function raw(api: ServedApi, request: string): Promise<string> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject).on('close', () => resolve(text));
  });
}
