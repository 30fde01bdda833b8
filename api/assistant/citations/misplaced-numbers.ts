import { termsOf } from '../../../search/build/words.ts';
import { containsFact, normalized, statesFact } from '../../../search/query/facts.ts';
import { createBlockReader, linesOf, sentencesOf, wholeLinks } from './blocks.ts';

interface Passage {
  text: string;
}

/** The sentences of a passage that have a number. */
interface Statements {
  /** In the form in which facts are looked for. */
  texts: string[];
  /** Positions of those that have a term. */
  byTerm: Map<string, number[]>;
}

/** Words around a number that say what it is the number of. */
const contextWords = 6;
const minShared = 2;
/** Share of the words of the best statement that one with the number itself must have. */
const minShareOfBest = 0.4;
const number = /^\p{N}[\p{N}.,]*$/u;

const readPassages = new WeakMap<Passage, Statements>();

/** Reports whether a fact is a number alone. */
export function isNumber(fact: string): boolean {
  return number.test(fact);
}

/**
 * Reports whether a number of a sentence is that of something else: one of the other passages says a number in most of
 * the same words, and the statements that have this number say it in hardly any of these. A sentence that shares few
 * words with the passages, as a translation does, tells nothing.
 */
export function isMisplaced(
  fact: string,
  { sentence, own, others }: { sentence: string; own: readonly Passage[]; others: readonly Passage[] },
): boolean {
  if (others.length === 0) return false;
  const context = contextOf(sentence, fact);
  const most = maxShared(context, others);
  if (most < minShared || most * 2 <= context.size) return false;
  return maxShared(context, own, normalized(fact)) < most * minShareOfBest;
}

/** Returns the most terms that one statement of the passages has in common with a context, of those with a fact if one is given. */
function maxShared(context: ReadonlySet<string>, passages: readonly Passage[], fact?: string): number {
  let most = 0;
  for (const passage of passages) {
    const { texts, byTerm } = statementsOf(passage);
    const shared = new Uint16Array(texts.length);
    for (const term of context) for (const at of byTerm.get(term) ?? []) shared[at] = (shared[at] ?? 0) + 1;
    shared.forEach((count, at) => {
      if (count > most && (fact === undefined || containsFact(texts[at] ?? '', fact))) most = count;
    });
  }
  return most;
}

/** Returns the terms around a number, without the numbers among them; the text of a link says where it leads. */
function contextOf(sentence: string, fact: string): Set<string> {
  const words = sentence.replaceAll(wholeLinks, '').split(/\s+/);
  const at = words.findIndex((word) => word.includes(fact) && statesFact(word, fact));
  if (at < 0) return new Set();
  const around = words.slice(Math.max(0, at - contextWords), at + contextWords + 1).join(' ');
  return withoutNumbers(around);
}

function withoutNumbers(text: string): Set<string> {
  return new Set(termsOf(text).filter((term) => !/^\p{N}/u.test(term)));
}

function statementsOf(passage: Passage): Statements {
  const known = readPassages.get(passage);
  if (known !== undefined) return known;
  const reader = createBlockReader();
  const sentences = [...reader.push(passage.text), reader.flush()]
    .flatMap(linesOf)
    .filter(({ kind }) => kind !== 'code')
    .flatMap(sentencesOf)
    .filter((text) => /\p{N}/u.test(text));
  const statements: Statements = { texts: sentences.map(normalized), byTerm: new Map() };
  for (const [at, text] of sentences.entries())
    for (const term of withoutNumbers(text)) {
      const found = statements.byTerm.get(term) ?? [];
      if (found.push(at) === 1) statements.byTerm.set(term, found);
    }
  readPassages.set(passage, statements);
  return statements;
}
