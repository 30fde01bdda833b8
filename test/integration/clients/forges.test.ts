import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Forge, PullRequestDraft } from '../../../activities/clients/forge.ts';
import { createForges } from '../../../activities/clients/forges.ts';
import { createGithubForge } from '../../../activities/clients/github.ts';
import { createLocalForge } from '../../../activities/clients/local-forge.ts';
import { createPullRequestStore } from '../../../db/pull-requests.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { createFakeGithub, type FakeGithub } from '../../support/fake-github.ts';
import { live } from './setup.ts';

let database: TestDatabase;
let github: FakeGithub;
beforeAll(async () => {
  database = await createTestDatabase();
  github = await createFakeGithub();
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
  await github[Symbol.asyncDispose]();
});

let repositoryNumber = 0;
let fullName = '';
beforeEach(async () => {
  repositoryNumber += 1;
  fullName = `acme/lamp-${repositoryNumber}`;
  const repository = await github.addRepository(fullName);
  await repository.commit({ 'a.txt': 'a' }, { branch: 'docket/1' });
  await repository.git('update-ref', 'refs/heads/base', 'main');
  const base = await repository.git('rev-parse', 'main');
  await repository.git('update-ref', 'refs/heads/main', base);
  await repository.commit({ 'b.txt': 'b' }, { branch: 'docket/2' });
  github.requests.length = 0;
});

interface Kind {
  name: string;
  forge(): Forge;
  repository(): string;
}

const kinds: Kind[] = [
  {
    name: 'local',
    forge: () =>
      createLocalForge({ pullRequests: createPullRequestStore(database.pool), baseUrl: 'http://docket.test/' }),
    repository: () => `/repositories/${fullName}`,
  },
  {
    name: 'github',
    forge: () => createGithubForge({ token: github.token, apiUrl: github.apiUrl }),
    repository: () => `${github.origin}/${fullName}`,
  },
];

function draftOf(repository: string, change: Partial<PullRequestDraft> = {}): PullRequestDraft {
  const text = { title: 'Say hello', body: 'What was asked' };
  return { repository, head: 'docket/1', base: 'main', ...text, draft: false, signal: live, ...change };
}

const nothing = async () => {};

describe.each(kinds)('the $name forge', ({ forge, repository }) => {
  it('makes one pull request for a branch, however often it is asked', async () => {
    let effects = 0;
    const ask = () =>
      forge().ensurePullRequest({ ...draftOf(repository()), beforeEffect: async () => void (effects += 1) });
    const first = await ask();
    expect(first).toMatchObject({ state: 'open', url: expect.stringMatching(/^http:\/\/.*\/pulls?\/[\w-]+$/) });
    expect(await ask()).toEqual(first);
    expect(effects).toBe(1);
    const other = await forge().ensurePullRequest({
      ...draftOf(repository(), { head: 'docket/2' }),
      beforeEffect: nothing,
    });
    expect(other.id).not.toBe(first.id);
  });

  it('gives an existing one the new title and body', async () => {
    const first = await forge().ensurePullRequest({ ...draftOf(repository()), beforeEffect: nothing });
    let effects = 0;
    const change = draftOf(repository(), { title: 'Say more', body: 'Again' });
    expect(await forge().ensurePullRequest({ ...change, beforeEffect: async () => void (effects += 1) })).toEqual(
      first,
    );
    expect(await forge().ensurePullRequest({ ...change, beforeEffect: async () => void (effects += 1) })).toEqual(
      first,
    );
    expect(effects).toBe(1);
  });

  it('writes nothing when what comes before the effect refuses', async () => {
    const stale = new Error('A newer attempt owns this.');
    const refuse = () => Promise.reject(stale);
    await expect(forge().ensurePullRequest({ ...draftOf(repository()), beforeEffect: refuse })).rejects.toBe(stale);
    const made = await forge().ensurePullRequest({ ...draftOf(repository()), beforeEffect: nothing });
    const change = draftOf(repository(), { title: 'Other' });
    await expect(forge().ensurePullRequest({ ...change, beforeEffect: refuse })).rejects.toBe(stale);
    expect(await forge().ensurePullRequest({ ...draftOf(repository()), beforeEffect: refuse })).toEqual(made);
  });

  it('makes one when two attempts come at the same time', async () => {
    const ask = () => forge().ensurePullRequest({ ...draftOf(repository()), beforeEffect: nothing });
    const results = await Promise.all([ask(), ask(), ask()]);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  });

  it('answers aborted for a job that is stopped', async () => {
    const draft = draftOf(repository(), { signal: AbortSignal.abort() });
    await expect(forge().ensurePullRequest({ ...draft, beforeEffect: nothing })).rejects.toMatchObject({
      kind: 'aborted',
    });
  });
});

describe('the github forge', () => {
  const [, { forge, repository } = kinds[0]!] = kinds;
  const ask = (change: Partial<PullRequestDraft> = {}) =>
    forge().ensurePullRequest({ ...draftOf(repository(), change), beforeEffect: nothing });

  it('adopts the pull request that another client made just before', async () => {
    github.raceNextCreate();
    expect(await ask()).toMatchObject({ id: '1', state: 'open' });
    expect(github.pullRequests(fullName)).toHaveLength(1);
  });

  it('finds after a lost answer what it made', async () => {
    github.fail({ on: 'create', status: null, after: true });
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await ask()).toMatchObject({ id: '1' });
    expect(github.pullRequests(fullName)).toHaveLength(1);
  });

  it('says to try again when GitHub refuses a duplicate that it does not list', async () => {
    const body = {
      message: 'Validation Failed',
      errors: [{ message: 'A pull request already exists for acme:docket/1.' }],
    };
    github.fail({ on: 'create', status: 422, body });
    await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('knows a pull request that was closed or merged, and prefers an open one', async () => {
    await ask();
    const [first] = github.pullRequests(fullName);
    first!.state = 'closed';
    expect(await ask()).toMatchObject({ id: '1', state: 'closed' });
    first!.mergedAt = '2026-01-01T00:00:00Z';
    expect(await ask()).toMatchObject({ id: '1', state: 'merged' });
    github.pullRequests(fullName).push({ ...first!, number: 2, state: 'open', mergedAt: null });
    expect(await ask()).toMatchObject({ id: '2', state: 'open' });
  });

  it('asks for a draft where one is wanted', async () => {
    await ask({ draft: true });
    expect(github.pullRequests(fullName)).toMatchObject([{ draft: true, head: 'docket/1', base: 'main' }]);
  });

  it.each([
    ['list', 401, {}, { kind: 'authentication' }],
    ['create', 403, {}, { kind: 'authentication' }],
    ['create', 403, { 'retry-after': '17' }, { kind: 'rate-limited', retryAfterMs: 17_000 }],
    ['list', 429, { 'retry-after': '3' }, { kind: 'rate-limited', retryAfterMs: 3_000 }],
    ['create', 500, {}, { kind: 'unavailable' }],
    ['list', null, {}, { kind: 'unavailable' }],
    ['create', 422, {}, { kind: 'rejected' }],
  ] as const)('reads %s answered with %s %j', async (on, status, headers, expected) => {
    github.fail({ on, status, headers });
    const error = await ask().catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'ForgeError', ...expected });
    expect(JSON.stringify(error) + String(error)).not.toContain(github.token);
    expect(await ask()).toMatchObject({ state: 'open' });
  });

  it('says what is missing: the base, the branch, a change, the repository', async () => {
    await expect(ask({ base: 'nope' })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/base branch/),
    });
    await expect(ask({ head: 'nope' })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/its branch/),
    });
    await expect(ask({ head: 'base' })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/no change/),
    });
    const missing = draftOf(`${github.origin}/acme/none`);
    await expect(forge().ensurePullRequest({ ...missing, beforeEffect: nothing })).rejects.toMatchObject({
      kind: 'not-found',
    });
  });

  it('asks nothing of a repository on another server', async () => {
    for (const address of [
      'https://evil.test/acme/lamp',
      '/srv/lamp.git',
      `${github.origin}/acme`,
      `${github.origin}/a/b/c`,
      'x',
    ]) {
      const draft = draftOf(address);
      await expect(forge().ensurePullRequest({ ...draft, beforeEffect: nothing })).rejects.toMatchObject({
        kind: 'not-found',
      });
    }
    expect(github.requests).toEqual([]);
  });

  it('gives its credential for its own server only', async () => {
    const hosted = createGithubForge({ token: 'secret', apiUrl: 'https://api.github.com' });
    expect(hosted.credential('https://github.com/acme/lamp')).toMatchObject({
      username: 'x-access-token',
      origin: 'https://github.com',
    });
    expect(await hosted.credential('https://github.com/acme/lamp')?.token()).toBe('secret');
    for (const address of [
      'https://github.com.evil.test/a/b',
      'http://github.com/a/b',
      'https://github.com:444/a/b',
      '/srv/a',
      'x',
    ]) {
      expect(hosted.credential(address)).toBeNull();
    }
    const enterprise = createGithubForge({ token: 'secret', apiUrl: 'https://git.acme.test/api/v3/' });
    expect(enterprise.credential('https://git.acme.test/a/b')?.origin).toBe('https://git.acme.test');
    expect(enterprise.credential('https://github.com/a/b')).toBeNull();
  });

  it('is refused with a remedy when the worker has no token', () => {
    const local = kinds[0]!.forge();
    const forges = createForges({ local, github: { token: null, apiUrl: github.apiUrl } });
    expect(forges.forKind('local')).toBe(local);
    expect(() => forges.forKind('github')).toThrow(
      expect.objectContaining({ kind: 'authentication', message: expect.stringMatching(/GITHUB_TOKEN/) }),
    );
    expect(createForges({ local, github: { token: 't', apiUrl: github.apiUrl } }).forKind('github')).not.toBe(local);
  });

  it('sends only requests that the server knows', () => {
    expect(github.violations).toEqual([]);
  });
});
