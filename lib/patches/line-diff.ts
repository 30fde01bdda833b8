import { diffArrays } from 'diff';
import type { WorkBudget } from './work-budget.ts';

/** A line that stays, goes or comes; or lines that are not known and the same on both sides. */
export type LineChange = { kind: 'equal' | 'delete' | 'insert'; line: string } | { kind: 'skip'; count: number };

/** Beyond so many differences all lines count as replaced: finding the fewest takes their square in time. */
const mostDifferences = 1_000;

/**
 * The fewest lines to take out and put in; within a run of differences, what goes stands before what comes. With too many
 * differences, or when the budget is spent, all lines count as replaced.
 */
export function diffLines(before: readonly string[], after: readonly string[], budget: WorkBudget): LineChange[] {
  const replaced = [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  const pieces = before.length === 0 || after.length === 0 ? replaced : (fewest(before, after, budget) ?? replaced);
  return pieces.flatMap(({ removed, added, value }) => {
    const kind = removed ? 'delete' : added ? 'insert' : 'equal';
    return value.map((line): LineChange => ({ kind, line }));
  });
}

function fewest(before: readonly string[], after: readonly string[], budget: WorkBudget) {
  const maxEditLength = Math.min(mostDifferences, Math.floor(Math.sqrt(2 * budget.left)));
  const pieces = diffArrays([...before], [...after], { maxEditLength });
  const differences = pieces?.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0);
  budget.spend((differences ?? maxEditLength) ** 2 / 2);
  return pieces;
}
