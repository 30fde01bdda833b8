import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPages } from '../../../search/read/read-pages.ts';
import { evaluate, filesOf, readQuestions } from '../../suites/quality/evaluate.ts';
import { indexOf, temporaryFolder } from './build.ts';

const checkout = join(import.meta.dirname, '../../..');

it('finds the right page for our own questions and refuses what the pages do not answer', async () => {
  using index = indexOf(temporaryFolder(), await readPages(filesOf(join(checkout, 'docs'))));
  const { hit1, hit5, mrr10, refused, wronglyRefused } = evaluate(
    index,
    readQuestions(join(checkout, 'test/suites/quality/own-questions.json')),
  );
  expect(hit1).toBeGreaterThanOrEqual(0.8);
  expect(hit5).toBeGreaterThanOrEqual(0.95);
  expect(mrr10).toBeGreaterThanOrEqual(0.85);
  expect(refused).toBeGreaterThanOrEqual(0.9);
  expect(wronglyRefused).toBeLessThanOrEqual(0.1);
});
