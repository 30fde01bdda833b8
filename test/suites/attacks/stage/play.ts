import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Snapshot } from '../../../../db/for-worker/snapshots.ts';
import type { Git } from '../../../../activities/git/git.ts';
import { createTestGit } from '../../../support/git.ts';
import type { TreeLimits } from '../../../../activities/workspaces/tree-limits.ts';
import { createWorkspaces } from '../../../../activities/workspaces/workspaces.ts';
import type { Scene } from './scene.ts';

/**
 * Runs a job from the checkout to the pushed branch, in two batches, with `tamper` on the tree in each of them. Returns what
 * git printed and did with the job's own directory.
 */
export async function playJob(
  scene: Scene,
  repository: string,
  { tamper = async () => {}, limits }: { tamper?: (tree: string) => Promise<void>; limits?: TreeLimits } = {},
): Promise<{ git: Git; gitDir: string; commit: string }> {
  const { signal } = new AbortController();
  const git = createTestGit({ home: join(scene.directory, 'home'), transports: ['file'] });
  const directory = join(scene.directory, 'work');
  const workspaces = createWorkspaces({ git, directory, ...(limits === undefined ? {} : { limits }) });
  const access = { organizationId: 'org_test', repository, credential: null, signal };
  const { commit: baseCommit } = await workspaces.resolve({ ...access, ref: null });
  const job = { ...access, jobId: 'job', baseCommit };
  let taken: Snapshot | null = null;
  for (const text of ['one\n', 'two\n']) {
    const opened = await workspaces.open({ ...job, snapshot: taken });
    try {
      await tamper(opened.path);
      await writeFile(join(opened.path, 'edit.txt'), text);
      const sinceTree: string | null = taken === null ? null : taken.tree;
      taken = (await workspaces.snapshot('job', { baseCommit, sinceTree, signal })).snapshot ?? taken;
    } finally {
      await opened.release();
    }
  }
  if (taken === null) throw new Error('The job changed nothing.');
  const author = { name: 'Docket', email: 'docket@example.com', date: new Date(0) };
  const { commit } = await workspaces.publish({
    ...job,
    branch: 'docket/job',
    snapshot: taken,
    message: 'Edit\n\nAgent-Job: job\n',
    author,
    published: null,
    beforePush: async () => {},
  });
  return { git, gitDir: join(directory, 'jobs/job/git'), commit };
}
