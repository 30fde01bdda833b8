import { CommandError } from '../../../cli/command-error.ts';
import { printCells, type Format } from './report.ts';
import type { Result } from './results.ts';
import { mcNemar, mean, pairedDifference } from '../../../lib/statistics.ts';
import { bootstrap } from '../../support/bootstrap.ts';

/** Means of two runs over the tasks that both have, and the interval of their difference. */
export interface Difference {
  figure: string;
  a: number;
  b: number;
  difference: number;
  interval: [low: number, high: number];
}

export interface Comparison {
  tasks: number;
  /** Tasks that b resolves more often than a, and the other way round. */
  better: string[];
  worse: string[];
  /** McNemar's exact test of these two. */
  pValue: number;
  differences: Difference[];
}

const figures: Record<string, (result: Result) => number | null> = {
  resolved: ({ resolved }) => Number(resolved),
  'cost ($)': ({ costUsd }) => costUsd,
  steps: ({ steps }) => steps,
  'input tokens': ({ inputTokens }) => inputTokens,
  'output tokens': ({ outputTokens }) => outputTokens,
  'time (s)': ({ seconds }) => seconds,
};

/**
 * Compares two runs task by task. The intervals are 95% percentile bootstrap intervals over tasks (Efron and
 * Tibshirani, "An introduction to the bootstrap", 1993, chapter 13), that of resolved tasks with one attempt each is of
 * paired shares. Throws CommandError when they have no task in common.
 */
export function compareRuns(a: Result[], b: Result[]): Comparison {
  const [ofA, ofB] = [byTask(a), byTask(b)];
  const tasks = [...ofA.keys()].filter((task) => ofB.has(task)).sort();
  if (tasks.length === 0) throw new CommandError('The two runs have no judged task in common.');
  const differences = Object.entries(figures).flatMap(([figure, read]): Difference[] => {
    const pairs = tasks.map((task) => [ofA, ofB].map((of) => meanOf(of.get(task) ?? [], read)));
    const known = pairs.filter((pair): pair is [number, number] => pair.every((value) => value !== null));
    if (known.length < pairs.length) return [];
    const changes = known.map(([before, after]) => after - before);
    return [
      {
        figure,
        a: mean(known.map(([before]) => before)),
        b: mean(known.map(([, after]) => after)),
        difference: mean(changes),
        interval: intervalOf(figure, changes),
      },
    ];
  });
  const change = (task: string) =>
    mean((ofB.get(task) ?? []).map(({ resolved }) => Number(resolved))) -
    mean((ofA.get(task) ?? []).map(({ resolved }) => Number(resolved)));
  const better = tasks.filter((task) => change(task) > 0);
  const worse = tasks.filter((task) => change(task) < 0);
  return { tasks: tasks.length, better, worse, pValue: mcNemar(better.length, worse.length), differences };
}

function intervalOf(figure: string, changes: number[]): [low: number, high: number] {
  if (figure !== 'resolved' || !changes.every(Number.isInteger)) return bootstrap(changes) ?? [0, 0];
  const countOf = (sign: number) => changes.filter((change) => change === sign).length;
  return pairedDifference(countOf(1), countOf(-1), changes.length);
}

function byTask(results: Result[]): Map<string, Result[]> {
  return Map.groupBy(
    results.filter(({ resolved }) => resolved !== null),
    ({ task }) => task,
  );
}

function meanOf(results: Result[], read: (result: Result) => number | null): number | null {
  const values = results.map(read).filter((value) => value !== null);
  return values.length < results.length ? null : mean(values);
}

/** Prints a comparison. */
export function printComparison(comparison: Comparison, format: Format): void {
  if (format === 'json') return console.log(JSON.stringify(comparison, null, 2));
  const { tasks, better, worse, pValue, differences } = comparison;
  printCells(
    ['', 'A', 'B', 'B - A', '95%'],
    differences.map(({ figure, a, b, difference, interval }) => [
      figure,
      ...[a, b, difference].map(rounded),
      `[${interval.map(rounded).join(', ')}]`,
    ]),
    format,
  );
  console.log(
    `\n${tasks} tasks in both; B better in ${better.length}, worse in ${worse.length}; p = ${rounded(pValue)}`,
  );
  if (better.length > 0) console.log(`\nBetter: ${better.join(', ')}`);
  if (worse.length > 0) console.log(`\nWorse: ${worse.join(', ')}`);
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
