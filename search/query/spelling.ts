import type { DatabaseSync } from 'node:sqlite';
import { createSharedCache } from './shared-cache.ts';
import { fold, termOf } from '../build/words.ts';

const letters = [...'abcdefghijklmnopqrstuvwxyz'];
/** A change of one letter turns a shorter word into too many others; longer texts are not words. */
const minWordLength = 5;
const maxWordLength = 24;
const maxCorrections = 3;
/** Corrections of the words of the open indexes. */
const kept = createSharedCache<string, string[]>(5_000);

/**
 * Returns a function that returns the most frequent terms of which a word may be a misspelling: with one letter missing,
 * added or wrong, or with two exchanged, after the first letter. Of words in other letters than a-z, it returns none.
 */
export function createSpelling(database: DatabaseSync): (word: string) => string[] {
  const find = database.prepare(
    `select v.term from json_each(?) as wanted join temp.vocabulary as v on v.term = wanted.value
     order by v.doc desc, v.term limit ${maxCorrections}`,
  );
  return (text) => {
    const word = fold(text);
    if (word.length < minWordLength || word.length > maxWordLength || !/^[a-z]+$/.test(word)) return [];
    const known = kept.get(database, word);
    if (known !== undefined) return known;
    const terms = new Set([...editsOf(word)].map(termOf));
    const corrections = find.all(JSON.stringify([...terms])).map(({ term }) => String(term));
    kept.set(database, word, corrections);
    return corrections;
  };
}

function* editsOf(word: string): Generator<string> {
  for (let at = 1; at <= word.length; at++) {
    const [start, rest] = [word.slice(0, at), word.slice(at)];
    for (const letter of letters) yield start + letter + rest;
    if (rest === '') continue;
    for (const letter of letters) yield start + letter + rest.slice(1);
    yield start + rest.slice(1);
    yield start + rest.charAt(1) + rest.charAt(0) + rest.slice(2);
  }
}
