import { expect, it } from 'vitest';
import { examplesOf } from '../../../../dashboard/jobs/example-prompts.tsx';

it('makes prompts about the documents of a repository, and none without a document', () => {
  expect(examplesOf([])).toEqual([]);
  expect(examplesOf(['README.md']).map((prompt) => prompt.includes('README.md'))).toEqual([true, true, true]);
  const [, second, third] = examplesOf(['README.md', 'docs/a.md', 'docs/b.md', 'docs/c.md']);
  expect([second, third]).toEqual([
    'Compare docs/a.md with the code, and correct what is out of date.',
    'Add an example to docs/b.md.',
  ]);
});
