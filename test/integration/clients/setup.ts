import { join } from 'node:path';
import type { Snapshot } from '../../../db/for-worker/snapshots.ts';
import type { Git, GitCall } from '../../../activities/git/git.ts';
import { createTestGit } from '../../support/git.ts';
import { openJobDisks } from '../../../activities/workspaces/job-disks.ts';
import type { TakenSnapshot } from '../../../activities/workspaces/job-snapshot.ts';
import { createWorkspaces, type Workspaces } from '../../../activities/workspaces/workspaces.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import type { GitCredential } from '../../../activities/git/git-credential.ts';
import { removeDirectory, temporaryDirectory } from '../../support/temporary-directory.ts';

export const live = new AbortController().signal;

export interface TestWorkspaces extends AsyncDisposable {
  directory: string;
  git: Git;
  workspaces: Workspaces;
  /** The git commands that ran, oldest first. */
  calls: GitCall[];
  /** Another owner of the same directory, as a second process would be. */
  again(): Workspaces;
}

/** Working copies in their own directory; git may reach servers on loopback. With `growthBytes` each tree has its own disk. */
export async function createTestWorkspaces({
  env = {},
  growthBytes,
}: { env?: Record<string, string>; growthBytes?: number } = {}): Promise<TestWorkspaces> {
  const directory = temporaryDirectory();
  const git = createTestGit({
    home: join(directory, 'home'),
    transports: ['https', 'http', 'file'],
    egress: loopbackEgress,
  });
  const calls: GitCall[] = [];
  const recording: Git = {
    ...git,
    run(call) {
      calls.push(call);
      return git.run({ ...call, env: { ...env, ...call.env } });
    },
    runAll(sequence) {
      calls.push(...sequence.commands.map((command) => ({ ...sequence, ...command })));
      return git.runAll({ ...sequence, env: { ...env, ...sequence.env } });
    },
  };
  const work = join(directory, 'work');
  const disks = growthBytes === undefined ? null : await openJobDisks(work, { growthBytes });
  const again = () => createWorkspaces({ git: recording, directory: work, disks });
  return {
    directory,
    git: recording,
    workspaces: again(),
    calls,
    again,
    [Symbol.asyncDispose]: () => removeDirectory(directory),
  };
}

export function access(repository: string, credential: GitCredential | null = null) {
  return { organizationId: 'org_test', repository, credential, signal: live };
}

/** Opens the tree, lets `change` work in it, and returns the snapshot taken afterwards. */
export async function changeTree(
  workspaces: Workspaces,
  {
    repository,
    jobId,
    commit,
    from = null,
  }: { repository: string; jobId: string; commit: string; from?: Snapshot | null },
  change: (path: string) => Promise<void>,
): Promise<TakenSnapshot> {
  const opened = await workspaces.open({ ...access(repository), jobId, baseCommit: commit, snapshot: from });
  try {
    await change(opened.path);
    return await workspaces.snapshot(jobId, { baseCommit: commit, sinceTree: from?.tree ?? null, signal: live });
  } finally {
    await opened.release();
  }
}
