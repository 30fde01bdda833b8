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
  const folders: Record<string, string> = { attacks: 'test/suites/attacks', podman: 'test/integration' };
  const projects = [...new Set(mutations.map(({ project }) => project))];
  const filesOf = new Map(
    projects.map((project) => [project, globSync(`${folders[project] ?? `test/${project}`}/**/*.test.ts`)]),
  );
  const missing = mutations.filter(
    ({ project, tests }) => !tests.every((test) => filesOf.get(project)!.some((file) => file.includes(test))),
  );
  expect(missing.map(({ name }) => name)).toEqual([]);
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
