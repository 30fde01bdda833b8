import { changeOfTrees } from '../../lib/patches/change-between.ts';
import { changedBetween, type ChangedFile } from '../../lib/patches/patch-files.ts';
import type { CollectedJob, KeptTree } from './collect-job.ts';

export interface StepDiff {
  files: ChangedFile[];
  patch: string;
  /** `exact`: from the tree before the step to the one after it. `base`: the later tree stands on another commit, and is compared with it. */
  kind: 'exact' | 'base';
}

/** The files that a step changed; a tree without a snapshot is the one of the base commit. */
export function filesOfStep(
  { trees, removedTrees }: Pick<CollectedJob, 'trees' | 'removedTrees'>,
  before: string | null,
  after: string,
): ChangedFile[] {
  if (before === after || removedTrees.has(before ?? '') || removedTrees.has(after)) return [];
  const [from, to] = [trees.get(before ?? ''), trees.get(after)];
  const isMoved = from !== undefined && to !== undefined && from.baseCommit !== to.baseCommit;
  return changedBetween((isMoved ? undefined : from)?.files ?? new Map(), to?.files ?? new Map());
}

/** The change of a step as a patch, from the kept patches of the trees around it; `before` null is the tree of the base commit. */
export function diffOfStep(
  job: Pick<CollectedJob, 'trees' | 'removedTrees'>,
  before: string | null,
  after: string,
): StepDiff {
  if (job.removedTrees.has(before ?? '') || job.removedTrees.has(after))
    return { files: [], patch: 'The files of this step are not kept any more, to make room.\n', kind: 'exact' };
  const treeOf = (id: string | null): { baseCommit: string; patch: string } | null => {
    const tree: KeptTree | undefined = job.trees.get(id ?? '');
    return tree === undefined ? null : { baseCommit: tree.baseCommit, patch: tree.patch ?? '' };
  };
  return { files: filesOfStep(job, before, after), ...changeOfTrees(treeOf(before), treeOf(after)) };
}
