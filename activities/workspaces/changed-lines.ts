import { setImmediate as nextTurn } from 'node:timers/promises';

/** Lines of a patch that are read between two turns of the event loop. */
const linesPerTurn = 20_000;

export interface ChangedLines {
  additions: number;
  deletions: number;
}

/** Counts the lines that a patch adds and deletes, as `git diff --stat` does. */
export async function changedLines(patch: string): Promise<ChangedLines> {
  const counted = { additions: 0, deletions: 0 };
  let isInHunk = false;
  let lines = 0;
  for (let at = 0, end = 0; at < patch.length; at = end + 1) {
    end = patch.indexOf('\n', at);
    if (end === -1) end = patch.length;
    lines += 1;
    if (lines % linesPerTurn === 0) await nextTurn();
    if (patch.startsWith('diff --git ', at)) isInHunk = false;
    else if (patch.startsWith('@@', at)) isInHunk = true;
    else if (isInHunk && patch[at] === '+') counted.additions += 1;
    else if (isInHunk && patch[at] === '-') counted.deletions += 1;
  }
  return counted;
}
