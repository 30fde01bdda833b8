import { stemmer } from 'stemmer';

const cache = new Map<string, string>();
const cacheSize = 50_000;

/** Returns the stem of a lower-case word (Porter's algorithm); words with other letters than a-z stay as they are. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > 40) return word;
  const known = cache.get(word);
  if (known !== undefined) return known;
  const result = /^[a-z]+$/.test(word) ? stemmer(word) : word;
  if (cache.size >= cacheSize) cache.clear();
  cache.set(word, result);
  return result;
}
