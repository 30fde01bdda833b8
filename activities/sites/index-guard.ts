import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IndexGuard } from '../../db/for-worker/site-indexing.ts';
import { findsExpected } from '../../search/query/finds-expected.ts';

/** Lost questions that a refusal names. */
const maxNamed = 3;
const maxQuestionLength = 100;

/**
 * Asks the questions of a guard in the current and in the new index, without a model. Returns why the new one is worse
 * by more than the guard's margin, as a sentence for the operator; null when it is not.
 */
export async function problemWithIndex(
  { setName, questions, margin, baseUrl }: IndexGuard,
  { currentFile, file, signal }: { currentFile: string; file: string; signal: AbortSignal },
): Promise<string | null> {
  // loaded late: few builds have a guard, and the search engine would slow the start of every worker
  const { openSiteIndex } = await import('../../search/query/site-index.ts');
  using current = openSiteIndex(currentFile);
  using built = openSiteIndex(file);
  const [before, after] = [current.as('all'), built.as('all')];
  let foundBefore = 0;
  let foundAfter = 0;
  const lost: string[] = [];
  for (const question of questions) {
    signal.throwIfAborted();
    await nextTurn();
    const finds = findsExpected(before, question, baseUrl);
    const findsNow = findsExpected(after, question, baseUrl);
    if (finds) foundBefore += 1;
    if (findsNow) foundAfter += 1;
    if (finds && !findsNow) lost.push(`“${question.text.slice(0, maxQuestionLength)}”`);
  }
  if (questions.length === 0 || (foundBefore - foundAfter) / questions.length <= margin) return null;
  const more = lost.length > maxNamed ? ` and ${lost.length - maxNamed} more` : '';
  return `The new index is not used, because it is worse: it finds what ${foundAfter} of the ${questions.length} questions of ${setName} expect, and the current one ${foundBefore}. It no longer does for ${lost.slice(0, maxNamed).join(', ')}${more}.`;
}
