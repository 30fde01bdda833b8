const stopWords = new Set(
  `a about an and any are as at be can could do does for from get have how i if in into is it its me my no not of on or our please
  should so tell than that the their them then there these they this to up us use using want was we what when where which who why
  will with would you your`.split(/\s+/u),
);

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Returns the stems of a text's meaningful words, so that forms of a word are equal. */
export function termsOf(text: string): Set<string> {
  const terms = new Set<string>();
  for (const [word] of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    const lower = word.toLowerCase();
    if (unspaced.test(lower)) {
      const characters = [...lower];
      if (characters.length === 1) terms.add(lower);
      for (let at = 0; at + 1 < characters.length; at += 1) terms.add(characters.slice(at, at + 2).join(''));
      continue;
    }
    if (stopWords.has(lower)) continue;
    terms.add(beginningOf(lower));
    const parts = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu) ?? [];
    if (parts.length > 1) for (const part of parts) terms.add(beginningOf(part.toLowerCase()));
  }
  return terms;
}

/** Returns the number of wanted terms that a text contains. */
export function overlapOf(wanted: Set<string>, text: string): number {
  return wanted.intersection(termsOf(text)).size;
}

function beginningOf(word: string): string {
  const singular = word.endsWith('ies') && word.length > 4 ? `${word.slice(0, -3)}y` : word;
  const stem = singular.replace(/(?:ing|ed|es|s|e)$/u, '');
  return (stem.length >= 3 ? stem : singular).slice(0, 6);
}
