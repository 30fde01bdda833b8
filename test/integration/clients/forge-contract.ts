import { beforeEach, describe, expect, it } from 'vitest';
import type { Forge, PullRequestDraft } from '../../../activities/forges/forge.ts';
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
    if (stage.isHosted) describeRefusals();

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
