import { setTimeout as pause } from 'node:timers/promises';
import type { MergeCause } from '../../db/pull-requests/pull-requests.ts';
import { ForgeError, type PullRequest, type PullRequestAddress } from './forge.ts';

/** Why a pull request could not be merged, as a sentence. The cause is null when it is unknown or temporary. */
export interface Obstacle {
  problem: string;
  cause: MergeCause | null;
}
/** A merge that was refused, with the files in conflict if they are known; at most 100. */
export interface RefusedMerge extends Obstacle {
  kind: 'refused';
  conflicts: string[];
}
/** The commit is that of the base branch after the merge; null when the forge did not name it. */
export type MergedBranch = { kind: 'merged'; commit: string | null } | RefusedMerge;

export type MergeMethod = 'merge' | 'squash';

interface PullRequestCheck extends Pick<PullRequest, 'state' | 'draft'> {
  /** Why it cannot be merged; null if it can, or if it is not open. */
  obstacle: Obstacle | null;
}

export interface PullRequestMerge extends PullRequestAddress {
  /** The last commit of the branch that the person saw: the merge is refused if the branch has another one. */
  headCommit: string | null;
  method: MergeMethod;
  /** Runs immediately before the merge and may throw. */
  beforeEffect(): Promise<void>;
}

/** Checks and merges the pull requests of one forge. Errors: ForgeError. */
export interface Merging {
  /** `headCommit` is the last commit that is shown of the branch. */
  check(address: PullRequestAddress & { headCommit: string | null }): Promise<PullRequestCheck>;
  /** Idempotent: a second run finds the pull request merged. */
  merge(merge: PullRequestMerge): Promise<MergedBranch>;
}

interface ReadPullRequest extends PullRequestCheck {
  headCommit: string;
  /** Null unless it is merged. */
  mergeCommit: string | null;
  /** The forge has not finished its check; a later request knows the result. */
  isPending: boolean;
}

export interface MergeRequests {
  /** Name of the forge, for error messages. */
  forge: string;
  read(address: PullRequestAddress): Promise<ReadPullRequest>;
  /** Merges exactly the given head commit. A refusal is a ForgeError of the kind `rejected` whose message says why. */
  send(merge: PullRequestMerge & { headCommit: string }): Promise<void>;
}

const maxReads = 5;
const readAgainMs = 1_000;

export function createMerging(requests: MergeRequests): Merging {
  const { forge } = requests;

  /** Reads it until the forge has finished checking, at most a few times. */
  async function settled(address: PullRequestAddress): Promise<ReadPullRequest> {
    for (let reads = 1; ; reads += 1) {
      const found = await requests.read(address);
      if (!found.isPending || found.state !== 'open') return found;
      if (reads === maxReads) return { ...found, obstacle: found.obstacle ?? stillChecking(forge) };
      await pause(readAgainMs, undefined, { signal: address.signal }).catch(() => {
        throw new ForgeError('aborted', `The request to ${forge} was stopped.`);
      });
    }
  }

  function obstacleOf(found: ReadPullRequest, headCommit: string | null): Obstacle | null {
    if (found.state === 'closed') return { problem: `The pull request was closed on ${forge}.`, cause: null };
    return found.headCommit === headCommit ? found.obstacle : branchMoved;
  }

  async function afterFailure(merge: PullRequestMerge, error: unknown): Promise<MergedBranch> {
    if (!(error instanceof ForgeError) || error.kind === 'aborted') throw error;
    const found = await settled(merge).catch(() => null);
    if (found === null) throw error;
    // the merge took effect, and only its answer was lost
    if (found.state === 'merged') return { kind: 'merged', commit: found.mergeCommit };
    const obstacle = obstacleOf(found, merge.headCommit);
    if (obstacle !== null) return refused(obstacle);
    if (error.kind === 'rejected') return refused({ problem: error.message, cause: null });
    // the same credential has just read the pull request, so it only lacks the right to merge
    if (error.kind === 'authentication' || error.kind === 'not-found') {
      return refused({
        problem: `The ${forge} credential may not merge this pull request. Give it the right to, or merge on ${forge}.`,
        cause: 'access',
      });
    }
    throw error;
  }

  return {
    async check({ headCommit, ...address }) {
      const found = await settled(address);
      const obstacle = found.state === 'open' ? obstacleOf(found, headCommit) : null;
      return { state: found.state, draft: found.draft, obstacle };
    },

    async merge(merge) {
      // forges refuse a merge while their check is still running
      const found = await settled(merge);
      if (found.state === 'merged') return { kind: 'merged', commit: found.mergeCommit };
      const { headCommit } = merge;
      if (found.state === 'closed' || headCommit === null || found.headCommit !== headCommit)
        return refused(obstacleOf(found, headCommit) ?? branchMoved);
      if (found.draft) {
        const problem = `The pull request is a draft. Mark it as ready for review on ${forge} first.`;
        return refused({ problem, cause: null });
      }
      await merge.beforeEffect();
      try {
        await requests.send({ ...merge, headCommit });
      } catch (error) {
        return afterFailure(merge, error);
      }
      const merged = await requests.read(merge).catch(() => null);
      return { kind: 'merged', commit: merged?.mergeCommit ?? null };
    },
  };
}

/** Why a branch whose last commit is not the reviewed one is not merged. */
export const branchMoved: Obstacle = {
  problem:
    'The branch has commits that are not shown here. Send the job a message so that it takes them over, then review it again.',
  cause: 'moved',
};

/** Why a branch with conflicts is not merged. */
export function conflictWith(base: string): Obstacle {
  const problem = `The branch changes the same lines as ${base}. Send the job a message to resolve the conflict, or merge by hand.`;
  return { problem, cause: 'conflict' };
}

function stillChecking(forge: string): Obstacle {
  const problem = `${forge} has not finished checking whether it can be merged. Try again in a moment.`;
  return { problem, cause: null };
}

function refused(obstacle: Obstacle): RefusedMerge {
  return { kind: 'refused', ...obstacle, conflicts: [] };
}
