const cache = new Map<string, string>();
const cacheSize = 50_000;

const step2: [string, string][] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['abli', 'able'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
];
const step3: [string, string][] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const step4 = 'al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize'.split(' ');

/** The stem of a lower-case word (Porter's algorithm); words with other letters than a-z stay as they are. */
export function stem(word: string): string {
  if (word.length < 3 || word.length > 40) return word;
  const known = cache.get(word);
  if (known !== undefined) return known;
  const result = /^[a-z]+$/.test(word) ? porter(word) : word;
  if (cache.size >= cacheSize) cache.clear();
  cache.set(word, result);
  return result;
}

function porter(word: string): string {
  let w = stripParticiple(stripPlural(word));
  if (w.endsWith('y') && hasVowel(w.slice(0, -1))) w = `${w.slice(0, -1)}i`;
  w = replaceSuffix(w, step2);
  w = replaceSuffix(w, step3);
  w = stripSuffix(w);
  if (w.endsWith('e')) {
    const base = w.slice(0, -1);
    const m = measure(base);
    if (m > 1 || (m === 1 && !endsShort(base))) w = base;
  }
  return w.endsWith('ll') && measure(w) > 1 ? w.slice(0, -1) : w;
}

function stripPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function stripParticiple(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const base = word.endsWith('ed') ? word.slice(0, -2) : word.endsWith('ing') ? word.slice(0, -3) : null;
  if (base === null || !hasVowel(base)) return word;
  if (base.endsWith('at') || base.endsWith('bl') || base.endsWith('iz')) return `${base}e`;
  const last = base.at(-1) ?? '';
  if (last === base.at(-2) && isConsonant(base, base.length - 1) && !'lsz'.includes(last)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function replaceSuffix(word: string, suffixes: [string, string][]): string {
  const match = suffixes.find(([suffix]) => word.endsWith(suffix));
  if (match === undefined) return word;
  const base = word.slice(0, -match[0].length);
  return measure(base) > 0 ? base + match[1] : word;
}

function stripSuffix(word: string): string {
  if (word.endsWith('ion')) {
    const base = word.slice(0, -3);
    return (base.endsWith('s') || base.endsWith('t')) && measure(base) > 1 ? base : word;
  }
  const suffix = step4.find((candidate) => word.endsWith(candidate));
  if (suffix === undefined) return word;
  const base = word.slice(0, -suffix.length);
  return measure(base) > 1 ? base : word;
}

function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? '';
  if ('aeiou'.includes(letter)) return false;
  return letter !== 'y' || at === 0 || !isConsonant(word, at - 1);
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (!isConsonant(word, at)) return true;
  return false;
}

/** Number of vowel-consonant sequences. */
function measure(word: string): number {
  let count = 0;
  let wasVowel = false;
  for (let at = 0; at < word.length; at++) {
    const isVowel = !isConsonant(word, at);
    if (wasVowel && !isVowel) count++;
    wasVowel = isVowel;
  }
  return count;
}

/** Ends consonant-vowel-consonant, the last not w, x or y. */
function endsShort(word: string): boolean {
  const last = word.length - 1;
  if (last < 2 || 'wxy'.includes(word[last] ?? '')) return false;
  return isConsonant(word, last) && !isConsonant(word, last - 1) && isConsonant(word, last - 2);
}
