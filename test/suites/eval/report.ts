import { printTable } from '../../../cli/commands/output.ts';
import type { Result } from './results.ts';
import { mean, wilson } from '../../../lib/statistics.ts';

export const formats = ['text', 'json', 'markdown'] as const;
export type Format = (typeof formats)[number];
export const groupings = ['kind', 'language', 'repository'] as const;

/** Figures of some results. Costs, steps, tokens and seconds are means of an attempt. */
export interface Row {
  group: string;
  tasks: number;
  attempts: number;
  resolved: number;
  /** Of the judged attempts; null without any. */
  share: number | null;
  interval: [low: number, high: number] | null;
  /** Null when a price is unknown. */
  costUsd: number | null;
  steps: number;
  inputTokens: number;
  /** Share of the input that providers read from their caches; null when it is unknown, or without input. */
  cachedShare: number | null;
  outputTokens: number;
  seconds: number;
  /** Attempts by category of failure. */
  failures: Record<string, number>;
}

/** Returns a row per group, and one for all. */
export function rowsOf(results: Result[], by: (typeof groupings)[number]): Row[] {
  const groups = [...Map.groupBy(results, (result) => result[by])].sort(([a], [b]) => a.localeCompare(b));
  return [...groups, ['all', results] as const].map(([group, members]) => rowOf(group, members));
}

function rowOf(group: string, results: Result[]): Row {
  const judged = results.filter(({ resolved }) => resolved !== null);
  const ran = results.filter(({ job }) => job !== null);
  const resolved = judged.filter((result) => result.resolved).length;
  const share = judged.length === 0 ? null : resolved / judged.length;
  const costs = ran.map(({ costUsd }) => costUsd).filter((cost) => cost !== null);
  const failures: Record<string, number> = {};
  for (const { failure } of results) if (failure !== null) failures[failure] = (failures[failure] ?? 0) + 1;
  return {
    group,
    tasks: new Set(results.map(({ task }) => task)).size,
    attempts: results.length,
    resolved,
    share,
    // attempts at one task are not independent
    interval: share === null ? null : wilson(share, new Set(judged.map(({ task }) => task)).size),
    costUsd: costs.length < ran.length || ran.length === 0 ? null : mean(costs),
    steps: mean(ran.map(({ steps }) => steps)),
    cachedShare: cachedShareOf(ran),
    inputTokens: mean(ran.map(({ inputTokens }) => inputTokens)),
    outputTokens: mean(ran.map(({ outputTokens }) => outputTokens)),
    seconds: mean(ran.map(({ seconds }) => seconds)),
    failures,
  };
}

function cachedShareOf(results: Result[]): number | null {
  const input = results.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
  const cached = results.map(({ cachedInputTokens }) => cachedInputTokens).filter((tokens) => tokens !== null);
  if (input === 0 || cached.length < results.length) return null;
  return cached.reduce((sum, tokens) => sum + tokens, 0) / input;
}

const percent = (share: number) => `${(share * 100).toFixed(1)}%`;

/** Prints the rows of a run. */
export function printRows(rows: Row[], by: string, format: Format): void {
  if (format === 'json') return console.log(JSON.stringify(rows, null, 2));
  const titles = [
    by,
    'tasks',
    'attempts',
    'resolved',
    'share [95%]',
    'cost',
    'steps',
    'input',
    'cached',
    'output',
    'time',
    'failures',
  ];
  const cells = rows.map(({ share, interval, costUsd, cachedShare, failures, ...row }) => [
    row.group,
    `${row.tasks}`,
    `${row.attempts}`,
    `${row.resolved}`,
    share === null || interval === null ? '-' : `${percent(share)} [${interval.map(percent).join(', ')}]`,
    costUsd === null ? '-' : `$${costUsd.toFixed(4)}`,
    row.steps.toFixed(1),
    row.inputTokens.toFixed(0),
    cachedShare === null ? '-' : percent(cachedShare),
    row.outputTokens.toFixed(0),
    `${row.seconds.toFixed(1)} s`,
    Object.entries(failures)
      .sort(([, a], [, b]) => b - a)
      .map(([name, count]) => `${name}: ${count}`)
      .join(', ') || '-',
  ]);
  printCells(titles, cells, format);
}

/** Prints a table as aligned text or as Markdown. */
export function printCells(titles: string[], rows: string[][], format: Exclude<Format, 'json'>): void {
  if (format === 'text') return printTable(titles, rows);
  for (const cells of [titles, titles.map(() => '---'), ...rows]) console.log(`| ${cells.join(' | ')} |`);
}
