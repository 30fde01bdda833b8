import type { EvaluationResult } from '../../db/sites/evaluations.ts';
import type { SetQuestion } from '../../db/sites/question-sets.ts';
import type { OneAnswer } from '../assistant/ask-once.ts';
import { statesFact } from '../../search/query/facts.ts';

type Checked = Pick<EvaluationResult, 'missingFacts' | 'citesExpected' | 'findsExpected' | 'passed'>;

/**
 * Compares an answer with what its question expects. It passes if it answers, cites one of the expected pages and states
 * every expected fact; where no answer is expected, if it does not answer. `expectedPaths` are those of the expected pages
 * that the index has.
 */
export function checkAnswer(
  { expectedPages, expectedFacts, expectsAnswer }: SetQuestion,
  { text, isAnswered, cited, found }: Pick<OneAnswer, 'text' | 'isAnswered' | 'cited' | 'found'>,
  expectedPaths: readonly string[],
): Checked {
  const includesExpected = (paths: string[]) =>
    expectedPages.length === 0 ? null : expectedPaths.some((path) => paths.includes(path));
  const missingFacts = expectedFacts.filter((fact) => !statesFact(text, fact));
  const citesExpected = includesExpected(cited);
  const isAsExpected = isAnswered && citesExpected !== false && missingFacts.length === 0;
  return {
    missingFacts,
    citesExpected,
    findsExpected: includesExpected(found),
    passed: expectsAnswer ? isAsExpected : !isAnswered,
  };
}
