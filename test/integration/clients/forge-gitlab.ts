import { describe, expect, it } from 'vitest';
import { createGitlabForge } from '../../../activities/forges/gitlab.ts';
import type { FakeForge } from '../../support/forges/fake-forge.ts';
import { addLamp, draftOf, gitlabStage } from './forge-stage.ts';

/** Behavior that only GitLab has. */
export function describeGitlab(gitlab: () => FakeForge): void {
  describe('GitLab alone', () => {
    const beforeEffect = async () => {};

    it('finds an open merge request on the second page', async () => {
      const stage = gitlabStage(gitlab);
      const lamp = await addLamp(stage);
      const made = await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect });
      const own = gitlab().pullRequests(new URL(lamp.url).pathname.slice(1));
      for (let number = 2; number <= 130; number += 1) own.push({ ...own[0]!, number, state: 'closed' });
      expect(await stage.forge().ensurePullRequest({ ...draftOf(lamp), beforeEffect })).toEqual(made);
    });

    it('opens a merge request without the people that the token may not look up', async () => {
      const stage = gitlabStage(gitlab);
      const lamp = await addLamp(stage);
      gitlab().fail({ on: 'users', status: 403 });
      const marks = { reviewers: ['oscar'], labels: ['docs'], assignees: ['octavia'] };
      const made = await stage.forge().ensurePullRequest({ ...draftOf(lamp, { marks }), beforeEffect });
      expect(made).toMatchObject({ state: 'open', notes: ['GitLab did not accept the assignees octavia.'] });
      expect(await lamp.seen()).toMatchObject([{ labels: ['docs'], assignees: [], reviewers: ['oscar'] }]);
    });

    it('reaches a repository in a subgroup, on a server with a path prefix', async () => {
      const forge = createGitlabForge({ token: 'secret', url: 'https://git.acme.test/gitlab/' });
      expect(forge.credential('https://git.acme.test/gitlab/a/b/c')).toMatchObject({
        username: 'oauth2',
        origin: 'https://git.acme.test',
      });
      expect(forge.credential('https://git.acme.test/a/b')).toBeNull();
      await gitlab().addRepository('acme/tools/lamp');
      const state = gitlabStage(gitlab)
        .forge()
        .pullRequestState({ ...draftOf({ url: `${gitlab().origin}/acme/tools/lamp` }), id: '1' });
      await expect(state).rejects.toMatchObject({ kind: 'not-found' });
      expect(gitlab().requests.at(-1)?.path).toBe('/api/v4/projects/acme%2Ftools%2Flamp/merge_requests/1');
    });
  });
}
