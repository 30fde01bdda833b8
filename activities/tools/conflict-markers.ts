import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { takenOver } from '../attempt.ts';
import { markedFilesIn } from '../workspaces/marked-files.ts';

const maxNamed = 20;

/** Returns a sentence that names the files of a change in which a merge has left conflict markers; null if there are none. */
export function conflictMarkersIn(snapshot: Pick<Snapshot, 'patch'> | null): string | null {
  const names = markedFilesIn(snapshot?.patch ?? '');
  if (names.length === 0) return null;
  const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more files` : '';
  return `Conflict markers of the merge with the base branch are left in ${names.slice(0, maxNamed).join(', ')}${more}.`;
}

/**
 * Returns the reason why a step may not end the turn; null if it may. Left conflict markers are a reason once per turn. A
 * retry of a step gets the same result.
 */
export async function refusalForMarkers(
  effects: Pick<EffectStore, 'claim' | 'storeResult'>,
  { jobId, turn, step }: StepRef,
  snapshot: Snapshot | null,
): Promise<string | null> {
  const problem = conflictMarkersIn(snapshot);
  if (problem === null) return null;
  const effect = { jobId, turn, effect: 'conflict-markers' };
  const { fence, result } = await effects.claim(effect);
  if (result === null && !(await effects.storeResult({ ...effect, fence, result: step }))) throw takenOver();
  if (result !== null && result !== step) return null;
  return `The work is not finished: ${problem} Resolve them, then call finish again; a change with markers is not published.`;
}
