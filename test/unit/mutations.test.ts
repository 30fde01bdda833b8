import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutations } from '../suites/mutations/list.ts';

it('every mutation names a check that its file has, once', () => {
  const occurrences = mutations.map(({ name, file, find }) => [
    name,
    readFileSync(file, 'utf8').split(find).length - 1,
  ]);
  expect(occurrences.filter(([, count]) => count !== 1)).toEqual([]);
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
});

it('every mutation names tests that are there', () => {
  const folders: Record<string, string> = { attacks: 'test/suites/attacks' };
  const missing = mutations.flatMap(({ name, project, tests }) => {
    const files = globSync(`${folders[project] ?? `test/${project}`}/**/*.test.ts`);
    return tests.every((test) => files.some((file) => file.includes(test))) ? [] : [name];
  });
  expect(missing).toEqual([]);
});
