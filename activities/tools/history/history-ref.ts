import { parseRef } from '../../../lib/inputs/ref.ts';
import type { CommitHistory } from '../../workspaces/commit-history.ts';
import { ToolProblem } from '../tool-problem.ts';
import { showPath } from '../files/agent-path.ts';

/** A commit as a model names it: `HEAD`, a branch, a tag or an id, and how many first parents before it. */
interface HistoryRef {
  name: string;
  generations: number;
}

const mostGenerations = 10_000;

/** Parses the name of a commit, optionally with `^` or `~N` at its end. Throws ToolProblem. */
function parseHistoryRef(text: string): HistoryRef {
  const [, name = '', steps] = /^([^~^]*)(?:\^|~(\d{1,5}))?$/.exec(text) ?? [];
  const generations = name === text ? 0 : Number(steps ?? 1);
  const parsed = parseRef(name);
  if (name !== '' && parsed.ok && generations <= mostGenerations) return { name, generations };
  const problem = name === '' || parsed.ok ? '' : ` ${parsed.problem}`;
  throw new ToolProblem(
    `${showPath(text.slice(0, 200))} does not name a commit.${problem} Name HEAD, a branch, a tag or a commit id, ` +
      `optionally followed by ^ or ~N.`,
  );
}

/** Returns the id of the commit that a model names. Throws ToolProblem when the repository's history has none. */
export async function findCommit(history: CommitHistory, text: string): Promise<string> {
  const { name, generations } = parseHistoryRef(text);
  const commit = name === 'HEAD' ? history.baseCommit : await history.find(name);
  const found = commit === null || generations === 0 ? commit : await history.ancestor(commit, generations);
  if (found !== null) return found;
  throw new ToolProblem(
    `No branch or tag of the repository has the commit ${showPath(text)}. HEAD is the commit that this work started from.`,
  );
}
