import type { JobPiece, PieceOf } from '../../db/jobs/job-pieces.ts';
import { filesOfPatch, type FileChange } from '../../lib/patches/patch-files.ts';

/** A tree of the working copy. */
export interface KeptTree {
  tree: string;
  commit: string;
  baseCommit: string;
  files: Map<string, FileChange>;
  /** Null where it was not to be kept. */
  patch: string | null;
}

/** What was read of a job, in order. */
export interface CollectedJob {
  job: PieceOf<'job'>;
  turns: PieceOf<'turn'>[];
  messages: PieceOf<'message'>[];
  notes: PieceOf<'note'>[];
  compactions: PieceOf<'compaction'>[];
  effects: PieceOf<'effect'>[];
  events: PieceOf<'event'>[];
  exports: PieceOf<'export'>[];
  histories: PieceOf<'history'>[];
  steps: PieceOf<'step'>[];
  trees: Map<string, KeptTree>;
  /** Those whose contents were not kept. */
  removedTrees: Set<string>;
}

/** Gathers the pieces of a job; null when there are none. Of the trees that `keepsTree` names, the patch is kept too. */
export async function collectJob(
  pieces: AsyncIterable<JobPiece>,
  { keepsTree = () => false }: { keepsTree?: (tree: string, job: CollectedJob) => boolean } = {},
): Promise<CollectedJob | null> {
  let collected: CollectedJob | null = null;
  for await (const piece of pieces) {
    if (collected !== null) note(collected, piece, keepsTree);
    else if (piece.piece === 'job') collected = emptyOf(piece);
  }
  return collected;
}

function emptyOf(job: PieceOf<'job'>): CollectedJob {
  return {
    job,
    turns: [],
    messages: [],
    notes: [],
    compactions: [],
    effects: [],
    events: [],
    exports: [],
    histories: [],
    steps: [],
    trees: new Map(),
    removedTrees: new Set(),
  };
}

function note(job: CollectedJob, piece: JobPiece, keepsTree: (tree: string, job: CollectedJob) => boolean): void {
  switch (piece.piece) {
    case 'job':
      return;
    case 'turn':
      return void job.turns.push(piece);
    case 'message':
      return void job.messages.push(piece);
    case 'note':
      return void job.notes.push(piece);
    case 'compaction':
      return void job.compactions.push(piece);
    case 'effect':
      return void job.effects.push(piece);
    case 'event':
      return void job.events.push(piece);
    case 'export':
      return void job.exports.push(piece);
    case 'history':
      return void job.histories.push(piece);
    case 'step':
      return void job.steps.push(piece);
    case 'snapshot': {
      const { tree, commit, baseCommit, patch, isRemoved } = piece;
      if (isRemoved) job.removedTrees.add(tree);
      return void job.trees.set(tree, {
        tree,
        commit,
        baseCommit,
        files: filesOfPatch(patch),
        patch: keepsTree(tree, job) ? patch : null,
      });
    }
    case 'pack':
      return;
    default:
      piece satisfies never;
  }
}

/** The trees around a step: null is the tree of the base commit. `after` is undefined when the step stored none. */
export function treesAround(
  { steps, turns }: Pick<CollectedJob, 'steps' | 'turns'>,
  { turn, step }: { turn: number; step: number },
): { before: string | null; after: string | undefined } {
  const isEarlier = (at: { turn: number; step: number }) => at.turn < turn || (at.turn === turn && at.step < step);
  const known = [
    ...steps.map(({ turn, step, tree }) => ({ turn, step, later: 0, tree })),
    // the tree a working copy was made equal to since, because others had changed the branch
    ...turns.map(({ turn, treeStep, tree }) => ({ turn, step: treeStep ?? 0, later: 1, tree })),
    ...turns.map(({ turn, firstTree }) => ({ turn, step: 0, later: 1, tree: firstTree })),
  ].filter((at) => at.tree !== null && isEarlier(at));
  known.sort((left, right) => left.turn - right.turn || left.step - right.step || left.later - right.later);
  const own = steps.find((at) => at.turn === turn && at.step === step);
  return { before: known.at(-1)?.tree ?? null, after: own?.tree ?? undefined };
}
