import { expect, it } from 'vitest';
import { checkAnswer } from '../../../../api/evaluations/check-answer.ts';

it('checks pages and facts of an answer', () => {
  const expected = { text: 'q', expectedPages: ['guides/a'], expectedFacts: ['--force'], expectsAnswer: true };
  const check = (answer: object, change: object = {}) =>
    checkAnswer(
      { ...expected, origin: 'manual', ...change },
      { text: 'Use `--force`.', isAnswered: true, cited: ['guides/a'], found: [], ...answer },
      ['guides/a'],
    );
  expect(check({})).toEqual({ missingFacts: [], citesExpected: true, findsExpected: false, passed: true });
  expect(check({ text: 'Use --forced.' })).toMatchObject({ missingFacts: ['--force'], passed: false });
  expect(check({ cited: ['guides/b'] }).passed).toBe(false);
  expect(check({ isAnswered: false }).passed).toBe(false);
  expect(check({}, { expectsAnswer: false }).passed).toBe(false);
  expect(check({ isAnswered: false, cited: [] }, { expectsAnswer: false }).passed).toBe(true);
  expect(check({ cited: [] }, { expectedPages: [] })).toMatchObject({ citesExpected: null, passed: true });
});
