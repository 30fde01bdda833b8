import { ApplicationFailure } from '@temporalio/activity';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { conflictMarkersIn } from '../tools/conflict-markers.ts';
import { createPathRules, problemWithChanges } from '../tools/path-rules.ts';
import type { OwnPath } from '../workspaces/own-paths.ts';

/**
 * Returns a function that throws if a change may not be published. The tools refuse forbidden paths; this check covers
 * changes made in any other way. The agent was already asked to resolve conflict markers.
 */
export function createChangeCheck(
  project: ProjectRow,
  { snapshot, redact }: { snapshot: Snapshot; redact(text: string): string },
): (changes: OwnPath[]) => Promise<void> {
  const rules = createPathRules(project);
  const refuse = (problem: string, type: FailureType) =>
    ApplicationFailure.nonRetryable(redact(`Nothing was pushed: ${problem}`), type);
  return async (changes) => {
    const marked = conflictMarkersIn(snapshot);
    if (marked !== null)
      throw refuse(`${marked} Send a follow-up message to let the agent resolve them.`, FailureType.PushRejected);
    const problem = await problemWithChanges(rules, changes);
    if (problem !== null) throw refuse(problem, FailureType.PathNotAllowed);
  };
}
