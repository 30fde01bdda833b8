import { readFileSync } from 'node:fs';
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
