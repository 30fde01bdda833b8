import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import { isGitName, parseAgentPath, showPath } from './files/agent-path.ts';
import { compileGlob } from './files/glob-pattern.ts';
import { ToolProblem } from './tool-problem.ts';

/** Files that a forge executes when they change. */
const workflowPlaces = ['.github/workflows', '.gitea/workflows', '.forgejo/workflows', '.gitlab-ci.yml'];

interface Change {
  path: string;
  /** Target of a symbolic link. */
  target?: string | null;
}

export type PathRules = ReturnType<typeof createPathRules>;

/** Rules for the paths that the jobs of a project may change. */
export function createPathRules({
  allowedPaths,
  mayChangeWorkflows,
}: Pick<ProjectRow, 'allowedPaths' | 'mayChangeWorkflows'>) {
  const isAllowed = allowedPaths.map(compileGlob);
  return {
    /** Returns why a file, folder or link may not be changed, for the agent; null when it may. */
    problemWith({ path, target = null }: Change): string | null {
      if (target !== null && target.split(/[/\\]/).some(isGitName))
        return `${showPath(path)} is a link into .git, which jobs may not publish.`;
      if (!mayChangeWorkflows && touchesWorkflows(path)) {
        return `${showPath(path)} is run by the forge, and this project does not let jobs change it.`;
      }
      if (isAllowed.length === 0 || isAllowed.some((fits) => fits(path))) return null;
      return `${showPath(path)} may not be changed: this project lets jobs change only ${allowedPaths.join(', ')}.`;
    },
  };
}

/** Also covers the folders that contain them. Case is ignored, as some file systems do. */
function touchesWorkflows(path: string): boolean {
  const folded = path.toLowerCase();
  return workflowPlaces.some(
    (place) => folded === place || folded.startsWith(`${place}/`) || place.startsWith(`${folded}/`),
  );
}

const checkedPerTurn = 1_000;

/** Returns why changes of a job may not be published; null when all may. */
export async function problemWithChanges(rules: PathRules, changes: Change[]): Promise<string | null> {
  let first: string | null = null;
  let count = 0;
  for (const [at, change] of changes.entries()) {
    if (at % checkedPerTurn === 0) await nextTurn();
    const problem = rules.problemWith(change);
    if (problem === null) continue;
    first ??= problem;
    count += 1;
  }
  return count < 2 ? first : `${first} ${count - 1} more changes are not allowed.`;
}

const pathFields = ['path', 'from', 'to'] as const;

/** Returns why a call that writes may not run; null when it may. Invalid paths are left to the tool. */
export function problemWithCall(rules: PathRules, input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return null;
  const given: Partial<Record<string, unknown>> = { ...input };
  for (const field of pathFields) {
    const path = given[field];
    if (typeof path !== 'string') continue;
    const problem = problemWithPath(rules, path);
    if (problem !== null) return problem;
  }
  return null;
}

function problemWithPath(rules: PathRules, given: string): string | null {
  try {
    return rules.problemWith({ path: parseAgentPath(given).parts.join('/') });
  } catch (error) {
    if (error instanceof ToolProblem) return null;
    throw error;
  }
}
