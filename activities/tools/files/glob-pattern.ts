import { compileGlob as compile, GlobError } from '../../../lib/inputs/glob.ts';
import { ToolProblem } from '../tool-problem.ts';

/** Compiles a glob of the agent into a test of paths. Throws ToolProblem. */
export function compileGlob(given: string): (path: string) => boolean {
  try {
    return compile(given);
  } catch (error) {
    throw error instanceof GlobError ? new ToolProblem(error.message, { cause: error }) : error;
  }
}
