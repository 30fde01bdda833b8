import { describe, expect, it } from 'vitest';
import { scene } from './publish-scene.ts';
import { access, createTestWorkspaces } from './setup.ts';
import { makeBomb } from './tree-bomb.ts';

describe.each(['local', 'github'] as const)('publish of a later turn to a %s repository', (forge) => {
  it('adds a commit in a later turn, on any machine and on top of what a person pushed', { tags: 'slow' }, async () => {
    await scene(forge, async ({ repository, snapshot, publish, pushes }) => {
      const one = await snapshot('one\n');
      const first = await publish(one);
      const two = await snapshot('two\n', one);
      await using elsewhere = await createTestWorkspaces();
      const second = await publish(two, { published: first, workspaces: elsewhere.workspaces });
      expect(await repository.git('rev-parse', 'docket/job-edit^')).toBe(first.commit);
      const theirs = await repository.commit({ 'theirs.txt': 'x\n' }, { branch: 'docket/job-edit' });
      const three = await snapshot('three\n', two);
      const third = await publish(three, { published: second });
      expect(await repository.git('rev-parse', 'docket/job-edit', 'docket/job-edit^')).toBe(
        `${third.commit}\n${theirs}`,
      );
      expect(third.snapshot.tree).not.toBe(three.tree);
      expect(await repository.read(third.commit)).toMatchObject({
        'edit.txt': '100644 three',
        'theirs.txt': '100644 x',
      });
      expect(await publish(three, { published: second })).toEqual(third); // the response to the first push was lost
      expect(pushes).toHaveLength(3);
    });
  });

  it('leaves the branch as it is when a person changed the same lines', async () => {
    await scene(forge, async ({ repository, snapshot, publish }) => {
      const one = await snapshot('one\n');
      const first = await publish(one);
      const theirs = await repository.commit({ 'edit.txt': 'theirs\n' }, { branch: 'docket/job-edit' });
      await expect(publish(await snapshot('two\n', one), { published: first })).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringContaining('same lines'),
      });
      expect(await repository.git('rev-parse', 'docket/job-edit')).toBe(theirs);
    });
  });

  it('lists nothing that others pushed before its size is known', { tags: 'slow' }, async () => {
    await scene(forge, async ({ test, repository, url, credential, commit, snapshot, publish }) => {
      const one = await snapshot('one\n');
      const first = await publish(one);
      const two = await snapshot('two\n', one);
      await makeBomb(repository, { depth: 7, content: 'x', branch: 'docket/job-edit' });
      const at = { ...access(url, credential), jobId: 'job', baseCommit: commit, branch: 'docket/job-edit' };
      for (const attempt of [
        () => publish(two, { published: first }),
        () => test.workspaces.mergeUpstream({ ...at, snapshot: two, published: first, asBase: false }),
        () => test.workspaces.mergeUpstream({ ...at, snapshot: one, published: first, asBase: true }),
      ]) {
        test.calls.length = 0;
        await expect(attempt()).rejects.toMatchObject({ kind: 'too-large' });
        const commands = test.calls.map(({ args }) => args[0]);
        expect(commands.slice(commands.indexOf('fetch') + 1)).toEqual(['rev-parse', 'ls-tree']);
      }
    });
  });

  it('tries three times when a person keeps pushing', { tags: 'slow' }, async () => {
    await scene(forge, async ({ repository, snapshot, publish }) => {
      const one = await snapshot('one\n');
      const first = await publish(one);
      const two = await snapshot('two\n', one);
      let rivals = 0;
      const beforePush = async () => {
        rivals += 1;
        await repository.commit({ [`rival-${rivals}.txt`]: 'x' }, { branch: 'docket/job-edit' });
      };
      await expect(publish(two, { published: first, beforePush })).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringContaining('three attempts'),
      });
      expect(rivals).toBe(3);
      const { commit } = await publish(two, { published: first });
      expect(Object.keys(await repository.read(commit)).sort()).toEqual([
        'README.md',
        'edit.txt',
        'rival-1.txt',
        'rival-2.txt',
        'rival-3.txt',
      ]);
    });
  });
});
