// @module-tag slow
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Forge, PullRequestDraft } from '../../../activities/forges/forge.ts';
import { createGiteaForge } from '../../../activities/forges/gitea.ts';
import { startFailingProxy, type FailingProxy } from '../../support/forges/failing-proxy.ts';
import { findGitea } from '../../support/forges/gitea-build.ts';
import { startGitea, type Gitea } from '../../support/forges/gitea-server.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import { draftOf } from './forge-stage.ts';

const binary = await findGitea(process.env);
const date = 'Sat, 21 Nov 2026 11:00:00 GMT';
const soon = String(Date.parse(date) / 1000 + 90);
const operations = {
  find: /^GET \S+\/pulls\/main\/docket%2F\d+$/,
  list: /^GET \S+\/pulls\?state=open/,
  create: /^POST \S+\/pulls$/,
  update: /^PATCH \S+\/pulls\/\d+$/,
  labels: /^POST \S+\/issues\/\d+\/labels$/,
};

describe.runIf(binary !== null)('the gitea forge in trouble', () => {
  let gitea: Gitea;
  let proxy: FailingProxy;
  let forge: Forge;
  const path = '/repos/bot/faults';
  /** The branch of the test. */
  let head: string;
  let made = 0;
  beforeAll(async () => {
    gitea = await startGitea(binary!);
    proxy = await startFailingProxy(gitea.origin);
    forge = createGiteaForge({ token: gitea.token, url: proxy.origin, egress: loopbackEgress });
    await gitea.ask('POST', '/user/repos', { name: 'faults', auto_init: true, default_branch: 'main' });
    await gitea.ask('POST', `${path}/labels`, { name: 'docs', color: '#00aabb' });
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await gitea?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    made += 1;
    head = `docket/${made}`;
    const change = { branch: 'main', new_branch: head, content: Buffer.from('a').toString('base64'), message: 'a' };
    await gitea.ask('POST', `${path}/contents/a.txt`, change);
    proxy.requests.length = 0;
  });

  const ask = (change: Partial<PullRequestDraft> = {}) =>
    forge.ensurePullRequest({
      ...draftOf({ url: `${proxy.origin}/bot/faults` }, { head, ...change }),
      beforeEffect: async () => {},
    });
  async function seen(): Promise<any[]> {
    const all: any[] = await gitea.ask('GET', `${path}/pulls?state=all&limit=50`);
    return all.filter((one) => one.head.ref === head);
  }

  it.each([
    ['find', 401, {}, { kind: 'authentication' }],
    ['create', 403, {}, { kind: 'authentication' }],
    ['create', 403, { 'retry-after': '17' }, { kind: 'rate-limited', retryAfterMs: 17_000 }],
    ['find', 429, { 'retry-after': '3' }, { kind: 'rate-limited', retryAfterMs: 3_000 }],
    ['list', 429, {}, { kind: 'rate-limited', retryAfterMs: 60_000 }],
    [
      'create',
      429,
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon, date },
      { kind: 'rate-limited', retryAfterMs: 90_000 },
    ],
    ['create', 500, {}, { kind: 'unavailable' }],
    ['find', 502, {}, { kind: 'unavailable' }],
    ['list', 503, { 'retry-after': '7' }, { kind: 'unavailable', retryAfterMs: 7_000 }],
    ['find', null, {}, { kind: 'unavailable' }],
    ['create', 422, {}, { kind: 'rejected' }],
    ['list', 307, { location: 'http://127.0.0.1:1/' }, { kind: 'not-found' }],
  ] as const)(
    'reads %s answered with %s %j, sends it once, and recovers later',
    async (on, status, headers, expected) => {
      proxy.fail({ on: operations[on], status, headers });
      const error = await ask().catch((error: unknown) => error);
      expect(error).toMatchObject(expected);
      expect((error as Error).message).toMatch(/^[A-Z].*\.$/);
      expect(JSON.stringify(error) + String(error)).not.toContain(gitea.token);
      expect(proxy.requests.filter((line) => operations[on].test(line))).toHaveLength(1);
      expect(await ask()).toMatchObject({ state: 'open' });
      expect(await seen()).toHaveLength(1);
    },
  );

  it('adopts the pull request that another client created just before', async () => {
    const theirs = { head, base: 'main', title: 'Theirs', body: '' };
    proxy.before(operations.create, () => gitea.ask('POST', `${path}/pulls`, theirs));
    expect(await ask({ title: 'Ours' })).toMatchObject({ state: 'open' });
    expect(await seen()).toMatchObject([{ title: 'Ours' }]);
  });

  it('finds what it created after a lost response', async () => {
    proxy.fail({ on: operations.create, status: null, after: true });
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await ask()).toMatchObject({ state: 'open' });
    expect(await seen()).toHaveLength(1);
  });

  it('finishes in a second attempt what the first one could not', async () => {
    await ask();
    proxy.fail({ on: operations.update, status: 503 });
    await expect(ask({ title: 'Other' })).rejects.toMatchObject({ kind: 'unavailable' });
    const change = { title: 'Other', marks: { reviewers: [], labels: ['docs'], assignees: [] } };
    proxy.fail({ on: operations.labels, status: 502 });
    await expect(ask(change)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await ask(change)).toMatchObject({ state: 'open', notes: [] });
    expect(await seen()).toMatchObject([{ title: 'Other', labels: [{ name: 'docs' }] }]);
  });

  it('stops a request with the job', async () => {
    const stop = new AbortController();
    proxy.before(operations.find, async () => stop.abort());
    await expect(ask({ signal: stop.signal })).rejects.toMatchObject({ kind: 'aborted' });
  });
});
