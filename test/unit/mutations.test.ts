import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, it } from 'vitest';
import { mutations } from '../suites/mutations/list.ts';

it('every mutation names a check that its file contains, once', () => {
  const occurrences = mutations.map(({ name, file, find }) => [
    name,
    readFileSync(file, 'utf8').split(find).length - 1,
  ]);
  expect(occurrences.filter(([, count]) => count !== 1)).toEqual([]);
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
});

it('every mutation names existing tests', () => {
  const folders: Record<string, string> = { attacks: 'test/suites/attacks' };
  const missing = mutations.flatMap(({ name, project, tests }) => {
    const files = globSync(`${folders[project] ?? `test/${project}`}/**/*.test.ts`);
    return tests.every((test) => files.some((file) => file.includes(test))) ? [] : [name];
  });
  expect(missing).toEqual([]);
});

it('every mutated file can be parsed', () => {
  const problems = mutations.flatMap(({ name, file, find, replace }) => {
    try {
      if (file.endsWith('.ts')) stripTypeScriptTypes(readFileSync(file, 'utf8').replace(find, () => replace));
      return [];
    } catch (error) {
      return [`${name}: ${String(error)}`];
    }
  });
  expect(problems).toEqual([]);
});
