import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parsePrompt } from '../../models/offline-editor/grammar.ts';
import { compareRuns } from '../suites/eval/compare.ts';
import { rowsOf } from '../suites/eval/report.ts';
import type { Result } from '../suites/eval/results.ts';
import { readRecordings } from '../suites/eval/recordings.ts';
import { mcNemar, wilson } from '../../lib/statistics.ts';
import { readTasks } from '../suites/eval/tasks.ts';

const tasks = readTasks(resolve(import.meta.dirname, '../suites/eval/tasks'));

it('has at least 60 tasks in 12 repositories and 4 languages', () => {
  expect(tasks.length).toBeGreaterThanOrEqual(60);
  expect(new Set(tasks.map(({ repository }) => repository)).size).toBeGreaterThanOrEqual(12);
  expect(new Set(tasks.map(({ language }) => language)).size).toBeGreaterThanOrEqual(4);
});

it.each(tasks)(
  '$id is judged by its content, and by its own tests where code changes',
  ({ kind, check, seed, solution }) => {
    expect(check?.exact === true || check?.run !== undefined).toBe(true);
    expect(seed.length > 0 || solution !== undefined).toBe(true);
    if (kind === 'fix') expect(check?.run).toBeDefined();
  },
);

it.each(tasks.filter(({ kind }) => kind === 'edit'))(
  'the offline editor understands the prompt of $id',
  ({ prompt }) => {
    expect(parsePrompt(prompt).filter(({ commands }) => commands === null)).toEqual([]);
  },
);

it.each(['good', 'bad'])('has a recording of a %s run for every task', (quality) => {
  const recordings = readRecordings(resolve(import.meta.dirname, `../suites/eval/recordings/${quality}.jsonl`));
  expect(recordings.map(({ task, prompt }) => [task, prompt])).toEqual(tasks.map(({ id, prompt }) => [id, prompt]));
});

const result = (task: string, resolved: boolean | null, more: Partial<Result> = {}): Result => ({
  task,
  attempt: 1,
  kind: 'fix',
  language: 'Go',
  repository: 'acme/lamp',
  job: 'job_1',
  resolved,
  failure: resolved === false ? 'check_failed' : null,
  reason: '',
  model: 'offline/editor',
  costUsd: 0.5,
  steps: 2,
  inputTokens: 100,
  cachedInputTokens: 80,
  outputTokens: 10,
  seconds: 3,
  patch: '',
  ...more,
});

it('computes the intervals and the test of the literature', () => {
  // Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263 and 0 of 20
  expect(wilson(81 / 263, 263).map((value) => value.toFixed(4))).toEqual(['0.2553', '0.3662']);
  expect(wilson(0, 20).map((value) => value.toFixed(4))).toEqual(['0.0000', '0.1611']);
  expect(mcNemar(10, 2)).toBeCloseTo(0.03857, 5);
  expect(mcNemar(0, 0)).toBe(1);
});

it('leaves what was not run out of the score, and a cost that is not known out of the mean', () => {
  const notRun = result('c', null, { job: null, failure: 'not_run', costUsd: null, steps: 0 });
  const rows = rowsOf([result('a', true), result('b', false), notRun], 'kind');
  expect(rows.at(-1)).toMatchObject({
    group: 'all',
    attempts: 3,
    resolved: 1,
    share: 0.5,
    costUsd: 0.5,
    steps: 2,
    failures: { check_failed: 1, not_run: 1 },
  });
  expect(rowsOf([result('a', true), result('b', false, { costUsd: null })], 'kind').at(-1)?.costUsd).toBeNull();
});

it('weighs the share of the input that came from a cache by its size, and has none where a run did not count it', () => {
  const cached = (inputTokens: number, cachedInputTokens: number | null) =>
    result('a', true, { inputTokens, cachedInputTokens });
  expect(rowsOf([cached(100, 0), cached(900, 900)], 'kind').at(-1)?.cachedShare).toBe(0.9);
  expect(rowsOf([cached(100, 0), cached(900, null)], 'kind').at(-1)?.cachedShare).toBeNull();
  expect(rowsOf([cached(0, 0)], 'kind').at(-1)?.cachedShare).toBeNull();
});

it('compares two runs by the tasks that both have, and tells a difference from none', () => {
  const names = Array.from({ length: 40 }, (_, index) => `task-${index}`);
  const bad = names.map((name, index) => result(name, index < 10));
  const good = names.map((name, index) => result(name, index < 30, { steps: 3 }));
  const compared = compareRuns(bad, [...good, result('more', true)]);
  expect(compared).toMatchObject({ tasks: 40, worse: [] });
  expect(compared.better).toHaveLength(20);
  expect(compared.pValue).toBeLessThan(0.001);
  const resolved = compared.differences.find(({ figure }) => figure === 'resolved')!;
  expect(resolved).toMatchObject({ a: 0.25, b: 0.75, difference: 0.5 });
  expect(resolved.interval[0]).toBeGreaterThan(0.2);
  expect(resolved.interval[1]).toBeLessThan(0.7);
  expect(compareRuns(good, good)).toMatchObject({ better: [], worse: [], pValue: 1 });
  expect(() => compareRuns(bad, [result('other', true)])).toThrow('no judged task in common');
});
