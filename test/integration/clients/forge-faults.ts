import { beforeEach, describe, expect, it } from 'vitest';
import type { Forge, PullRequestDraft } from '../../../activities/forges/forge.ts';
import type { MergeMethod } from '../../../activities/forges/merge-pull-request.ts';
import type { FakeForge } from '../../support/forges/fake-forge.ts';
import { live } from './setup.ts';
import { addLamp, draftOf, type Stage, type StageRepository } from './forge-stage.ts';

const date = 'Sat, 21 Nov 2026 11:00:00 GMT';
const soon = String(Date.parse(date) / 1000 + 90);

/** The behavior of a hosted forge when its server refuses, fails or is cut off. */
export function describeFaults({ stage, fake }: { stage: Stage; fake: () => FakeForge }): void {
  describe(`the ${stage.name} forge in trouble`, () => {
    let lamp: StageRepository;
    let forge: Forge;
    beforeEach(async () => {
      lamp = await addLamp(stage);
      forge = stage.forge();
    });
    const ask = (change: Partial<PullRequestDraft> = {}) =>
      forge.ensurePullRequest({ ...draftOf(lamp, change), beforeEffect: async () => {} });

    it('adopts the pull request that another client created just before', async () => {
      fake().raceNextCreate();
      expect(await ask({ title: 'Ours' })).toMatchObject({ id: '1', state: 'open' });
      expect(await lamp.seen()).toMatchObject([{ title: 'Ours' }]);
    });

    it('finds what it created after a lost response', async () => {
      fake().fail({ on: 'create', status: null, after: true });
      await expect(ask()).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await ask()).toMatchObject({ id: '1' });
      expect(await lamp.seen()).toHaveLength(1);
    });

    it('applies in a second attempt the marks that the first one could not set', async () => {
      const marks = { reviewers: ['octavia'], labels: ['docs'], assignees: [] };
      fake().fail({ on: stage.name === 'github' ? 'labels' : 'update', status: 503 });
      await expect(ask({ marks })).rejects.toMatchObject({ kind: 'unavailable' });
      expect(await ask({ marks })).toMatchObject({ id: '1', notes: [] });
      expect(await lamp.seen()).toMatchObject([{ labels: ['docs'], reviewers: ['octavia'] }]);
    });

    it.each([
      ['list', 401, {}, { kind: 'authentication' }],
      ['create', 403, {}, { kind: 'authentication' }],
      ['create', 403, { 'retry-after': '17' }, { kind: 'rate-limited', retryAfterMs: 17_000 }],
      ['list', 429, { 'retry-after': '3' }, { kind: 'rate-limited', retryAfterMs: 3_000 }],
      ['list', 429, {}, { kind: 'rate-limited', retryAfterMs: 60_000 }],
      [
        'list',
        403,
        { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': soon, date },
        { kind: 'rate-limited', retryAfterMs: 90_000 },
      ],
      [
        'create',
        429,
        { 'ratelimit-remaining': '0', 'ratelimit-reset': soon, date },
        { kind: 'rate-limited', retryAfterMs: 90_000 },
      ],
      ['create', 500, {}, { kind: 'unavailable' }],
      ['list', 502, {}, { kind: 'unavailable' }],
      ['list', 503, { 'retry-after': '7' }, { kind: 'unavailable', retryAfterMs: 7_000 }],
      ['list', null, {}, { kind: 'unavailable' }],
      ['list', 404, {}, { kind: 'not-found' }],
      ['create', 422, {}, { kind: 'rejected' }],
    ] as const)(
      'reads %s answered with %s %j, sends it once, and recovers later',
      async (on, status, headers, expected) => {
        fake().requests.length = 0;
        fake().fail({ on, status, headers });
        const error = await ask().catch((error: unknown) => error);
        expect(error).toMatchObject(expected);
        expect((error as Error).message).toMatch(/^[A-Z].*\.$/);
        expect(JSON.stringify(error) + String(error)).not.toContain(fake().token);
        expect(fake().requests.filter(({ operation }) => operation === on)).toHaveLength(1);
        expect(await ask()).toMatchObject({ state: 'open' });
        expect(await lamp.seen()).toHaveLength(1);
      },
    );

    it('reports that the repository has moved, and sends its token nowhere else', async () => {
      const fullName = new URL(lamp.url).pathname.slice(1);
      fake().rename(fullName, `${fullName}-new`);
      fake().requests.length = 0;
      await expect(ask()).rejects.toMatchObject({
        kind: 'not-found',
        message: expect.stringMatching(/moved .*enter the new one/),
      });
      expect(
        fake()
          .requests.map(({ path }) => path)
          .join(' '),
      ).not.toContain('/moved/');
    });

    describe('at a merge', () => {
      const pullRequest = (id: string) => fake().pullRequests(new URL(lamp.url).pathname.slice(1))[Number(id) - 1]!;
      const merge = async (id: string, method: MergeMethod = 'merge') =>
        forge.merging!.merge({
          id,
          repository: lamp.url,
          method,
          headCommit: await lamp.commitOf('docket/1'),
          beforeEffect: async () => {},
          signal: live,
        });
      const check = async (id: string) =>
        forge.merging!.check({
          id,
          repository: lamp.url,
          headCommit: await lamp.commitOf('docket/1'),
          signal: live,
        });

      it.each([401, 403, 404] as const)('says for a %s that the credential may not merge', async (status) => {
        const { id } = await ask();
        fake().fail({ on: 'merge', status, body: { message: `no: ${fake().token}` } });
        const outcome = await merge(id);
        expect(outcome).toMatchObject({
          kind: 'refused',
          problem: expect.stringMatching(/credential may not merge/),
          cause: 'access',
        });
        expect(JSON.stringify(outcome)).not.toContain(fake().token);
        expect(await lamp.seen()).toMatchObject([{ state: 'open' }]);
      });

      it.each([405, 409, 422] as const)('reports a %s that it cannot explain in its own words', async (status) => {
        const { id } = await ask();
        fake().fail({ on: 'merge', status, body: { message: `no: ${fake().token}` } });
        const outcome = await merge(id);
        expect(outcome).toMatchObject({ kind: 'refused', problem: expect.stringMatching(/refused the merge/) });
        expect(JSON.stringify(outcome)).not.toContain(fake().token);
      });

      it('finds the merge whose answer was lost, and merges no second time', async () => {
        const { id } = await ask();
        fake().fail({ on: 'merge', status: null, after: true });
        expect(await merge(id)).toMatchObject({ kind: 'merged', commit: await lamp.commitOf('main') });
        const main = await lamp.commitOf('main');
        expect(await merge(id)).toMatchObject({ kind: 'merged', commit: main });
        expect(await lamp.commitOf('main')).toBe(main);
      });

      it.each([null, 500, 503] as const)('throws for an outage (%s), after which it can be merged', async (status) => {
        const { id } = await ask();
        fake().fail({ on: 'merge', status });
        await expect(merge(id)).rejects.toMatchObject({ kind: 'unavailable' });
        expect(await merge(id)).toMatchObject({ kind: 'merged' });
      });

      it('says which rules are not met, before and at the merge', async () => {
        const { id } = await ask();
        pullRequest(id).blocked = 'rules';
        const requires = expect.stringMatching(/requires .* before a merge into main/);
        const obstacle = { problem: requires, cause: 'rules' };
        expect(await check(id)).toMatchObject({ state: 'open', obstacle });
        expect(await merge(id)).toMatchObject({ kind: 'refused', ...obstacle });
        expect(await lamp.seen()).toMatchObject([{ state: 'open' }]);
      });

      it('reports that the method is not allowed', async () => {
        const { id } = await ask();
        pullRequest(id).blocked = 'method';
        const method = stage.name === 'github' ? /Choose the other one/ : /refused the merge/;
        expect(await merge(id)).toMatchObject({ kind: 'refused', problem: expect.stringMatching(method) });
      });

      it('asks again while the forge is checking', async () => {
        const { id } = await ask();
        pullRequest(id).checks = 2;
        expect(await check(id)).toEqual({ state: 'open', draft: false, obstacle: null });
        expect(pullRequest(id).checks).toBe(0);
      });
    });

    it('stops a request with the job', async () => {
      const stop = new AbortController();
      fake().onRequest = () => stop.abort();
      try {
        await expect(ask({ signal: stop.signal })).rejects.toMatchObject({ kind: 'aborted' });
      } finally {
        fake().onRequest = null;
      }
    });

    it('sends and receives only what the vendor documents', () => {
      expect(fake().violations).toEqual([]);
    });
  });
}
