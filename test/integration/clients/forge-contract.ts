import { beforeEach, describe, expect, it } from 'vitest';
import type { Forge, PullRequestDraft } from '../../../activities/forges/forge.ts';
import { branchMoved, conflictWith, type PullRequestMerge } from '../../../activities/forges/merge-pull-request.ts';
import type { MergeCause } from '../../../db/pull-requests/pull-requests.ts';
import { live } from './setup.ts';
import { addLamp, draftOf, type Stage, type StageRepository } from './forge-stage.ts';

const nothing = async () => {};
const noMarks = { reviewers: [], labels: [], assignees: [] };

/** The behavior of every forge, whatever server is behind it. */
export function describeForge(stage: Stage): void {
  describe(`the ${stage.name} forge`, () => {
    let lamp: StageRepository;
    let forge: Forge;
    beforeEach(async () => {
      lamp = await addLamp(stage);
      forge = stage.forge();
    });
    const ask = (change: Partial<PullRequestDraft> = {}, beforeEffect: () => Promise<void> = nothing) =>
      forge.ensurePullRequest({ ...draftOf(lamp, change), beforeEffect });
    const standingOf = (id: string) =>
      forge.pullRequestState({ repository: lamp.url, id, signal: draftOf(lamp).signal });

    it('creates one pull request per branch, however often it is called', async () => {
      let effects = 0;
      const count = async () => void (effects += 1);
      const first = await ask({}, count);
      expect(first).toMatchObject({ state: 'open', notes: [] });
      expect(first.url).toMatch(/^http:\/\/.*\/(?:pulls?|merge_requests)\/[\w-]+$/);
      expect(await ask({}, count)).toEqual(first);
      expect(effects).toBe(1);
      expect(await standingOf(first.id)).toEqual({ state: 'open', draft: false });
      const other = await ask({ head: 'docket/2' });
      expect(other.id).not.toBe(first.id);
      expect(await lamp.seen()).toHaveLength(2);
    });

    it('updates an existing one with the new title and body, once', async () => {
      const first = await ask();
      let effects = 0;
      const count = async () => void (effects += 1);
      const body = `Ünïcode 🙂 and \`code\`\n\n- a list\n\n<!-- docket-job: job_1 -->\n${'long '.repeat(4000)}`;
      const change = { title: 'Say "more" <b>&amp;</b>', body };
      expect(await ask(change, count)).toEqual(first);
      expect(await ask(change, count)).toEqual(first);
      expect(effects).toBe(1);
      expect(await lamp.seen()).toMatchObject([change]);
    });

    it('leaves a title and a body that people have changed, and replaces what Docket wrote', async () => {
      const { title, body } = draftOf(lamp);
      const previous = [{ title, body }];
      await ask();
      const further = { title: 'Say more', body: 'What was asked\n\nand more', previous };
      await ask({ title: 'By a person' });
      await ask(further);
      expect(await lamp.seen()).toMatchObject([{ title: 'By a person', body: further.body }]);
      // an attempt that died here did not store what it wrote
      const known = { ...further, previous: [...previous, further] };
      await ask({ ...known, body: 'And all of it' });
      expect(await lamp.seen()).toMatchObject([{ title: 'By a person', body: 'And all of it' }]);
      await ask({ title: 'By a person', body: 'In other words\r\n' });
      let effects = 0;
      await ask(known, async () => void (effects += 1));
      await ask({ title: 'By a person', body: 'In other words', previous: [] }, async () => void (effects += 1));
      expect(effects).toBe(0);
      const theirs = { title: 'By a person', body: expect.stringMatching(/^In other words\s*$/) };
      expect(await lamp.seen()).toMatchObject([theirs]);
    });

    it('writes nothing if the check before the effect refuses', async () => {
      const stale = new Error('A newer attempt owns this.');
      const refuse = () => Promise.reject(stale);
      await expect(ask({}, refuse)).rejects.toBe(stale);
      expect(await lamp.seen()).toEqual([]);
      const made = await ask();
      await expect(ask({ title: 'Other' }, refuse)).rejects.toBe(stale);
      expect(await ask({}, refuse)).toEqual(made);
      expect(await lamp.seen()).toMatchObject([{ title: 'Say hello' }]);
    });

    it('creates one for several simultaneous attempts', async () => {
      const results = await Promise.all([ask(), ask(), ask()]);
      expect(new Set(results.map(({ id }) => id)).size).toBe(1);
      expect((await lamp.seen()).filter(({ state }) => state === 'open')).toHaveLength(1);
    });

    it('opens a draft that remains one when its text changes, and leaves it alone when the text is the same', async () => {
      const made = await ask({ draft: true });
      expect(await lamp.seen()).toMatchObject([{ draft: true, title: 'Say hello' }]);
      let effects = 0;
      await ask({ draft: true }, async () => void (effects += 1));
      expect(effects).toBe(0);
      expect(await ask({ title: 'Say more' })).toEqual(made);
      expect(await lamp.seen()).toMatchObject([{ draft: true, title: 'Say more' }]);
      await ask({ head: 'docket/2' });
      expect((await lamp.seen()).map(({ draft }) => draft).toSorted()).toEqual([false, true]);
    });

    it('distinguishes a closed and a merged one from an open one', async () => {
      const [closed, merged] = [await ask(), await ask({ head: 'docket/2' })];
      await lamp.close(closed.id);
      await lamp.merge(merged.id);
      expect(await standingOf(closed.id)).toMatchObject({ state: 'closed' });
      expect(await standingOf(merged.id)).toMatchObject({ state: 'merged' });
      expect((await lamp.seen()).map(({ state }) => state).toSorted()).toEqual(['closed', 'merged']);
    });

    it('creates one for a base other than main, and for a base that has advanced since', async () => {
      expect(await ask({ base: 'trunk' })).toMatchObject({ state: 'open' });
      await lamp.moveMain();
      expect(await ask({ head: 'docket/2' })).toMatchObject({ state: 'open' });
    });

    it('answers aborted for a stopped job', async () => {
      await expect(ask({ signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
      expect(await lamp.seen()).toEqual([]);
    });

    if (stage.refusesEmpty) {
      it('reports that a branch contains no change', async () => {
        await expect(ask({ head: 'docket/same' })).rejects.toMatchObject({
          kind: 'rejected',
          message: expect.stringMatching(/no change/),
        });
      });
    }
    if (stage.hasMarks) describeMarks();
    if (stage.isHosted) {
      describeRefusals();
      describeMerges();
    }

    function describeMarks(): void {
      it('adds people and labels when it creates one, and leaves them alone later', async () => {
        const { known } = stage.people;
        const marks = { reviewers: [known], labels: ['docs'], assignees: [known] };
        expect(await ask({ marks })).toMatchObject({ notes: [] });
        const marked = [{ reviewers: [known], labels: ['docs'], assignees: [known] }];
        expect(await lamp.seen()).toMatchObject(marked);
        await ask({ title: 'Other', marks: null });
        expect(await lamp.seen()).toMatchObject(marked);
      });

      it('reports which people and labels could not be set, and creates the pull request anyway', async () => {
        const { known, unknown } = stage.people;
        const made = await ask({ marks: { ...noMarks, reviewers: [unknown, known] } });
        expect(made).toMatchObject({ state: 'open' });
        expect(made.notes).toEqual([expect.stringContaining(unknown)]);
        expect(await lamp.seen()).toMatchObject([{ reviewers: [known] }]);
      });
    }

    function describeMerges(): void {
      const order = async (id: string, change: Partial<PullRequestMerge> = {}): Promise<PullRequestMerge> => ({
        id,
        repository: lamp.url,
        method: 'merge',
        headCommit: await lamp.commitOf('docket/1'),
        beforeEffect: nothing,
        signal: live,
        ...change,
      });
      const merge = async (id: string, change: Partial<PullRequestMerge> = {}) =>
        forge.merging!.merge(await order(id, change));
      const check = async (id: string, change: Partial<PullRequestMerge> = {}) =>
        forge.merging!.check(await order(id, change));
      const refused = (problem: RegExp, cause: MergeCause | null) => ({
        kind: 'refused',
        problem: expect.stringMatching(problem),
        cause,
        conflicts: [],
      });

      it.each(['merge', 'squash'] as const)(
        'merges one by a %s, once, and finds it merged afterwards',
        { timeout: 60_000 },
        async (method) => {
          const { id } = await ask();
          const fine = { state: 'open', draft: false, obstacle: null };
          await expect.poll(() => check(id), { timeout: 50_000 }).toEqual(fine);
          let effects = 0;
          const beforeEffect = async () => void (effects += 1);
          const first = await merge(id, { method, beforeEffect });
          expect(first).toEqual({ kind: 'merged', commit: expect.stringMatching(/^[0-9a-f]{40}$/) });
          expect(await merge(id, { method, beforeEffect })).toEqual(first);
          expect(effects).toBe(1);
          expect(await check(id)).toMatchObject({ state: 'merged', obstacle: null });
          expect(await lamp.seen()).toMatchObject([{ state: 'merged' }]);
        },
      );

      it('merges nothing that was pushed after the person looked', async () => {
        const { id } = await ask();
        const headCommit = await lamp.commitOf('docket/1');
        await lamp.push('docket/1');
        const seen = await Promise.all([check(id, { headCommit }), merge(id, { headCommit })]);
        expect(seen).toEqual([
          { state: 'open', draft: false, obstacle: branchMoved },
          refused(/not shown here/, 'moved'),
        ]);
        expect(await merge(id, { headCommit: null })).toEqual(refused(/not shown here/, 'moved'));
        expect(await lamp.seen()).toMatchObject([{ state: 'open' }]);
      });

      it('merges nothing that is pushed between the look and the merge', async () => {
        const { id } = await ask();
        const outcome = await merge(id, { beforeEffect: async () => void (await lamp.push('docket/1')) });
        expect(outcome).toEqual(refused(/not shown here/, 'moved'));
        expect(await lamp.seen()).toMatchObject([{ state: 'open' }]);
      });

      it('does not merge if the check before the effect refuses', async () => {
        const { id } = await ask();
        const stale = new Error('The merge is no longer requested.');
        await expect(merge(id, { beforeEffect: () => Promise.reject(stale) })).rejects.toBe(stale);
        expect(await lamp.seen()).toMatchObject([{ state: 'open' }]);
      });

      it('reports a conflict before and at the merge', { timeout: 60_000 }, async () => {
        const { id } = await ask();
        await lamp.conflict(id);
        await expect.poll(() => check(id), { timeout: 50_000 }).toMatchObject({ obstacle: conflictWith('main') });
        expect(await merge(id)).toEqual(refused(/same lines as main/, 'conflict'));
      });

      it('merges neither a draft nor a closed one', async () => {
        const { id } = await ask({ draft: true });
        expect(await merge(id)).toEqual(refused(/draft/, null));
        await lamp.close(id);
        expect(await merge(id)).toEqual(refused(/was closed/, null));
        expect(await check(id)).toMatchObject({ state: 'closed', obstacle: null });
      });

      it('stops with its worker', async () => {
        const { id } = await ask();
        await expect(merge(id, { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
        await expect(check(id, { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
      });
    }

    function describeRefusals(): void {
      it.each([
        ['base', /base branch/],
        ['head', /its branch/],
      ] as const)('says that the %s is missing', async (name, message) => {
        await expect(ask({ [name]: 'nope' })).rejects.toMatchObject({
          kind: 'rejected',
          message: expect.stringMatching(message),
        });
      });

      it('returns a closed one if there is no open one', async () => {
        const first = await ask();
        await lamp.close(first.id);
        expect(await ask()).toMatchObject({ id: first.id, state: 'closed' });
      });

      it('reports that the repository does not exist', async () => {
        await expect(ask({ repository: stage.missing() })).rejects.toMatchObject({ kind: 'not-found' });
      });

      it('reports that the credential is wrong, without revealing it', async () => {
        const token = 'wrong-token-0123456789';
        const asked = stage.forge(token).ensurePullRequest({ ...draftOf(lamp), beforeEffect: nothing });
        const error = await asked.catch((error: unknown) => error);
        expect(error).toMatchObject({ name: expect.any(String), kind: 'authentication' });
        expect(JSON.stringify(error) + String(error) + String((error as Error).stack)).not.toContain(token);
      });

      it('contacts no other server', async () => {
        const addresses = ['https://evil.test/acme/lamp', '/srv/lamp.git', 'x', new URL(lamp.url).origin];
        for (const repository of addresses)
          await expect(ask({ repository })).rejects.toMatchObject({ kind: 'not-found' });
        expect(forge.credential('https://evil.test/acme/lamp')).toBeNull();
        expect(await lamp.seen()).toEqual([]);
      });
    }
  });
}
