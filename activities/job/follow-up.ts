import { ApplicationFailure } from '@temporalio/activity';
import { z } from 'zod';
import type { AdoptedBranch, JobBranchStore } from '../../db/for-worker/job-branches.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { showPath } from '../tools/files/agent-path.ts';
import { takenOver } from '../attempt.ts';
import type { UpstreamMerge } from '../workspaces/merge-upstream.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { baseOf, type JobAccess } from './job-access.ts';

export interface FollowUpDeps {
  steps: Pick<StepStore, 'newestSnapshot' | 'snapshot'>;
  effects: Pick<EffectStore, 'claim'>;
  branches: JobBranchStore;
  access: JobAccess;
  workspaces: Pick<Workspaces, 'mergeUpstream'>;
}

const doneSchema = z.object({ isFollowed: z.literal(true) });

/** The job's published change on its branch; null before anything was published. */
export async function publishedOf(
  steps: Pick<StepStore, 'snapshot'>,
  job: JobRow,
): Promise<{ commit: string; snapshot: Snapshot } | null> {
  if (job.headCommit === null || job.headTree === null) return null;
  const snapshot = await steps.snapshot(job.id, job.headTree);
  if (snapshot !== null) return { commit: job.headCommit, snapshot };
  throw ApplicationFailure.nonRetryable('The tree of the branch is not in the database.', FailureType.Internal);
}

/**
 * Starts a further turn with the current state of the job's branch: commits that others pushed are merged into its
 * working copy, and then the base branch if the turn's message asks for it. A job whose pull request was merged continues
 * from the base branch. Runs once per turn, in the attempt that holds the effect.
 */
export async function followUp(deps: FollowUpDeps, ref: TurnRef, signal: AbortSignal): Promise<void> {
  const { steps, effects, branches, access, workspaces } = deps;
  const job = await access.activeJob(ref);
  const published = await publishedOf(steps, job);
  if (published === null || job.branch === null || job.prId === null) return;
  const effect = { ...ref, effect: 'follow-up' };
  const { fence, result } = await effects.claim(effect);
  if (doneSchema.safeParse(result).success) return;

  const forge = await access.forgeOf(job);
  const pullRequest = await forge.pullRequestState({ repository: job.repository, id: job.prId, signal });
  await branches.setPullRequestState({ jobId: job.id, prId: job.prId, ...pullRequest });
  const asBase = pullRequest.state === 'merged';
  const base = baseOf(job);
  const isBaseWanted = !asBase && (await branches.asksForBase(ref));
  const merged =
    pullRequest.state === 'closed'
      ? null
      : await workspaces.mergeUpstream({
          ...(await access.repositoryOf(job, signal)),
          jobId: job.id,
          baseCommit: base.commit,
          snapshot: await steps.newestSnapshot(job.id),
          branch: asBase ? base.branch : job.branch,
          published,
          asBase,
          base: isBaseWanted ? base.branch : null,
          mergesBase: job.mergedFrom !== null,
        });
  if (merged === null) return;
  const branch: AdoptedBranch = {
    tree: merged.tree,
    snapshot: merged.snapshot,
    headSnapshot: merged.headSnapshot,
    head: asBase
      ? { kind: 'merged', baseCommit: merged.commit }
      : {
          kind: 'moved',
          commit: merged.commit,
          tree: merged.headTree,
          baseCommit: merged.merged?.commit ?? null,
        },
    note: noteOf(overruledNote(merged.overruled), mergedNote(base.branch, merged.merged)),
  };
  if (!(await branches.adopt({ ...effect, fence, branch, result: { isFollowed: true } }))) throw takenOver();
}

const maxNamed = 20;

function noteOf(...notes: (string | null)[]): string | null {
  const texts = notes.filter((text) => text !== null);
  return texts.length === 0 ? null : texts.join('\n\n');
}

/** Null when the base branch was not merged. */
function mergedNote(branch: string, merged: UpstreamMerge['merged']): string | null {
  if (merged === null) return null;
  const done = `Your working copy now contains a merge of your change with commit ${merged.commit} of the base branch ${branch}. It is published as a merge commit when you finish.`;
  if (merged.messages.length === 0) return `${done} There were no conflicts.`;
  const named = merged.messages.slice(0, maxNamed).map((message) => `- ${showPath(message.trimEnd())}`);
  if (merged.messages.length > maxNamed) named.push(`- and ${merged.messages.length - maxNamed} more`);
  return `${done} git reports these conflicts, where it calls the base branch ${merged.commit}:
${named.join('\n')}
Resolve them so that both sides keep what they intend. In a file with conflict markers, your change is above ======= and the base branch below; leave no markers. git has kept one version of a binary file or of a file that one side deleted or renamed: decide which is right.`;
}

/** Null when no change of the job was lost. */
function overruledNote(paths: string[]): string | null {
  if (paths.length === 0) return null;
  const named = paths.slice(0, maxNamed).map(showPath).join(', ');
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more files` : '';
  return `Since your last turn, others changed the same lines as you in ${named}${more}. Your changes there were not published, and the working copy now has their version. Read it before you continue.`;
}
