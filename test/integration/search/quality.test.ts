import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readPages } from '../../../search/read/read-pages.ts';
import { checkCitedPassages } from '../../suites/quality/cited-passages.ts';
import { openEarlierSearch } from '../../suites/quality/earlier-search.ts';
import { evaluate, filesOf, pairedRanks, readQuestions, shareOfWhole } from '../../suites/quality/evaluate.ts';
import { answersOf } from '../../suites/quality/answers.ts';
import { checkStatements } from '../../suites/quality/statements.ts';
import { indexOf } from '../../unit/search/build.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const checkout = join(import.meta.dirname, '../../..');

let index: Awaited<ReturnType<typeof indexOfDocs>>;
const indexOfDocs = async () => indexOf(temporaryDirectory(), await readPages(filesOf(join(checkout, 'docs'))));
beforeAll(async () => {
  index = await indexOfDocs();
});
afterAll(() => index[Symbol.dispose]());

/** A question is 0.02: a change of a page may move two of them without the search being worse. */
const gates = [
  { of: 'our own questions', file: 'own-questions.json', hit1: 0.85, hit5: 0.95, mrr10: 0.9, refused: 0.9 },
  { of: 'what readers ask next', file: 'own-follow-ups.json', hit1: 0.85, hit5: 0.95, mrr10: 0.9, refused: 0.8 },
];

it.each(gates)('finds the right page for $of, and refuses what the pages do not answer', async (gate) => {
  const questions = readQuestions(join(checkout, 'test/suites/quality', gate.file));
  const { hit1, hit5, mrr10, refused, wronglyRefused } = evaluate(index, questions);
  expect(hit1).toBeGreaterThanOrEqual(gate.hit1);
  expect(hit5).toBeGreaterThanOrEqual(gate.hit5);
  expect(mrr10).toBeGreaterThanOrEqual(gate.mrr10);
  expect(refused).toBeGreaterThanOrEqual(gate.refused);
  expect(wronglyRefused).toBeLessThanOrEqual(0.1);
});

it('tells good rewrites of follow-up questions from bad ones, and finds more with good ones than without', async () => {
  const questions = readQuestions(join(checkout, 'test/suites/quality/own-rewrites.json'));
  const off = evaluate(index, questions);
  const good = evaluate(index, questions, 'good');
  const bad = evaluate(index, questions, 'bad');
  expect(good.hit5).toBeGreaterThan(off.hit5);
  expect(good.mrr10).toBeGreaterThan(off.mrr10);
  expect(good.wronglyRefused).toBeLessThan(off.wronglyRefused);
  expect(bad.hit5).toBeLessThan(off.hit5);
  expect(bad.mrr10).toBeLessThan(off.mrr10);
});

it('finds English pages for questions in other languages by their names only, and with queries in English', async () => {
  const questions = readQuestions(join(checkout, 'test/suites/quality/own-languages.json'));
  const asked = evaluate(index, questions);
  const good = evaluate(index, questions, 'good');
  expect(asked.hit5).toBeGreaterThanOrEqual(0.4);
  expect(asked.wronglyRefused).toBeGreaterThan(0.9);
  expect(good.hit5).toBeGreaterThanOrEqual(0.9);
  expect(good.wronglyRefused).toBeLessThanOrEqual(0.1);
});

it('compares the search of another checkout, question by question', async () => {
  const files = [
    { path: 'a.md', read: () => '# A\n\nA kettle.' },
    { path: 'b.md', read: () => '# B\n\nA teapot.' },
  ];
  const search = await openEarlierSearch(checkout, { files, file: join(temporaryDirectory(), 'index.db') });
  expect(search({ query: 'teapot', limit: 5 })).toEqual(['b']);
  expect(pairedRanks([1, 0, 2, 1, 2], [1, 1, 1, 4, 2])).toEqual([
    'hit@1   0.400 → 0.600  of 5: +2 −1, p = 1.000',
    'hit@3   0.800 → 0.800  of 5: +1 −1, p = 1.000',
    'hit@5   0.800 → 1.000  of 5: +1 −0, p = 1.000',
    expect.stringMatching(/^MRR@10 {2}0\.600 → 0\.750 {2}difference 0\.150 \[-\d\.\d+, \d\.\d+\]$/),
  ]);
});

it('finds both halves of a compound question', async () => {
  const file = join(checkout, 'test/suites/quality/own-compound.json');
  expect(shareOfWhole(index, file)).toBeGreaterThanOrEqual(0.7);
});

it('quotes a right page first for our own questions, and answers none that the pages do not answer', async () => {
  const answers = await answersOf(index, readQuestions(join(checkout, 'test/suites/quality/own-questions.json')));
  const answerable = answers.filter(({ isAnswerable }) => isAnswerable);
  expect(answerable.filter(({ isFirst }) => isFirst).length / answerable.length).toBeGreaterThanOrEqual(0.75);
  expect(answers.filter(({ isAnswerable, isAnswered }) => !isAnswerable && isAnswered).length).toBeLessThanOrEqual(1);
});

it('marks false sentences about our own pages, and no true ones', { tags: 'slow' }, async () => {
  for (const figures of Object.values(checkStatements(index))) {
    for (const [wrongly, ofTrue] of [figures.true, figures.reordered])
      expect(wrongly / ofTrue).toBeLessThanOrEqual(0.01);
    const [marked, ofFalse] = figures.altered;
    expect(marked / ofFalse).toBeGreaterThanOrEqual(0.8);
  }
});

it('cites the passage that a sentence was taken from, and quotes it', { tags: 'slow' }, async () => {
  const figures = Object.values(await checkCitedPassages(index));
  expect(figures).toHaveLength(3);
  for (const [right, of] of figures.flatMap(({ passage, quote }) => [passage, quote])) {
    expect(of).toBeGreaterThan(500);
    expect(right / of).toBeGreaterThanOrEqual(0.95);
  }
});
