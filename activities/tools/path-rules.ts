import type { ProjectRow } from '../../db/organizations/projects.ts';
import { parseAgentPath, showPath } from './files/agent-path.ts';
import { compileGlob } from './files/glob-pattern.ts';
import { ToolProblem } from './tool-problem.ts';

/** What a forge runs by itself when it changes. */
const workflowPlaces = ['.github/workflows', '.gitea/workflows', '.forgejo/workflows', '.gitlab-ci.yml'];

/** Which paths the jobs of a project may change. */
export interface PathRules {
  /** Why a file or folder may not be changed, for the agent; null when it may. */
  problemWith(path: string): string | null;
}

export function createPathRules({
  allowedPaths,
  mayChangeWorkflows,
}: Pick<ProjectRow, 'allowedPaths' | 'mayChangeWorkflows'>): PathRules {
  const isAllowed = allowedPaths.map(compileGlob);
  return {
    problemWith(path) {
      if (!mayChangeWorkflows && touchesWorkflows(path)) {
        return `${showPath(path)} is run by the forge, and this project does not let jobs change it.`;
      }
      if (isAllowed.length === 0 || isAllowed.some((fits) => fits(path))) return null;
      return `${showPath(path)} may not be changed: this project lets jobs change only ${allowedPaths.join(', ')}.`;
    },
  };
}

/** A folder that holds them counts, too. Letter case does not matter: some file systems ignore it. */
function touchesWorkflows(path: string): boolean {
  const folded = path.toLowerCase();
  return workflowPlaces.some(
    (place) => folded === place || folded.startsWith(`${place}/`) || place.startsWith(`${folded}/`),
  );
}

const pathFields = ['path', 'from', 'to'] as const;

/** Why a call that writes may not run; null when it may. A path that is none is left to the tool. */
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
    return rules.problemWith(parseAgentPath(given).parts.join('/'));
  } catch (error) {
    if (error instanceof ToolProblem) return null;
    throw error;
  }
}
