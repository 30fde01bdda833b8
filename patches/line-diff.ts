import { diffArrays } from 'diff';

/** A line that stays, goes or comes; or lines that are not known and the same on both sides. */
export type LineChange = { kind: 'equal' | 'delete' | 'insert'; line: string } | { kind: 'skip'; count: number };

/** Beyond so many differences all lines count as replaced: finding the fewest takes their square in time. */
const mostDifferences = 1_000;

/** The fewest lines to take out and put in; within a run of differences, what goes stands before what comes. */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const pieces = diffArrays([...before], [...after], { maxEditLength: mostDifferences }) ?? [
    { removed: true, added: false, value: before },
    { removed: false, added: true, value: after },
  ];
  return pieces.flatMap(({ removed, added, value }) => {
    const kind = removed ? 'delete' : added ? 'insert' : 'equal';
    return value.map((line): LineChange => ({ kind, line }));
  });
}
