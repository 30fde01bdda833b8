import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPages } from '../../../search/read/read-pages.ts';
import { evaluate, filesOf, readQuestions } from '../../suites/quality/evaluate.ts';
import { indexOf, temporaryFolder } from './build.ts';

const checkout = join(import.meta.dirname, '../../..');

/** A question is 0.02: a change of a page may move two of them without the search being worse. */
const gates = [
  { of: 'our own questions', file: 'own-questions.json', hit1: 0.75, hit5: 0.95, mrr10: 0.85, refused: 0.9 },
  { of: 'what readers ask next', file: 'own-follow-ups.json', hit1: 0.85, hit5: 0.95, mrr10: 0.9, refused: 0.8 },
];

it.each(gates)('finds the right page for $of, and refuses what the pages do not answer', async (gate) => {
  using index = indexOf(temporaryFolder(), await readPages(filesOf(join(checkout, 'docs'))));
  const questions = readQuestions(join(checkout, 'test/suites/quality', gate.file));
  const { hit1, hit5, mrr10, refused, wronglyRefused } = evaluate(index, questions);
  expect(hit1).toBeGreaterThanOrEqual(gate.hit1);
  expect(hit5).toBeGreaterThanOrEqual(gate.hit5);
  expect(mrr10).toBeGreaterThanOrEqual(gate.mrr10);
  expect(refused).toBeGreaterThanOrEqual(gate.refused);
  expect(wronglyRefused).toBeLessThanOrEqual(0.1);
});
