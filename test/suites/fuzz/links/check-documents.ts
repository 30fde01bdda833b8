import { createLinkChecker } from '../../../../api/assistant/links/check-links.ts';
import type { LinkTarget } from '../../../../api/assistant/links/check-links.ts';
import { createRandom } from '../../chaos/plans/random.ts';
import { brokenDocument, cleanDocument, deltasOf, known } from './documents.ts';
import { addressesIn, normal, readers } from './readers.ts';

const allowed = new Set([...known.values()].map(normal));
const maxShown = 20;

/** Documents of a seed, by their numbers. */
export interface DocumentRange {
  first: number;
  count: number;
  seed: number;
}

function resolve(target: string): LinkTarget | null {
  const url = known.get(target);
  return url === undefined ? null : { url, path: null };
}

/** Returns the published text of an answer that arrives in these deltas. */
export function written(deltas: string[]): string {
  const checker = createLinkChecker(resolve);
  return [...deltas.map((delta) => checker.push(delta)), checker.flush()].map(({ text }) => text).join('');
}

/** Forbidden addresses that some Markdown reader finds in the published text. */
export function leaks(text: string): string[] {
  return readers.flatMap(({ name, render }) =>
    [...addressesIn(render(text))].filter((one) => !allowed.has(one)).map((one) => `${name}: ${one}`),
  );
}

/** Markdown readers that no longer find the same addresses in a document with known addresses only. */
function losses(before: string, after: string): string[] {
  return readers.flatMap(({ name, render }) => {
    const meant = [...addressesIn(render(before))].map((one) => normal(known.get(one) ?? one)).toSorted();
    const left = [...addressesIn(render(after))].toSorted();
    return meant.join(' ') === left.join(' ') ? [] : [`${name}: ${meant.join(' ')} → ${left.join(' ')}`];
  });
}

/**
 * Sends generated documents through the link checker and reads the result with every Markdown reader. `broken`
 * documents may lead to known addresses only; `clean` ones must still lead to the same addresses. Returns the problems.
 */
export function checkDocuments({ first, count, seed }: DocumentRange): string[] {
  const problems: string[] = [];
  const random = createRandom(seed);
  for (let number = first; number < first + count && problems.length < maxShown; number += 1) {
    const own = random.fork(number);
    const isClean = number % 4 === 3;
    const document = isClean ? cleanDocument(own) : brokenDocument(own);
    const after = written(deltasOf(document, own));
    const found = isClean ? losses(document, after) : leaks(after);
    if (found.length > 0)
      problems.push(`document ${number}: ${found.join('; ')}: ${JSON.stringify(document)} → ${JSON.stringify(after)}`);
  }
  return problems;
}
