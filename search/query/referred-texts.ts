/** Words with which a question continues an earlier one, and words that stand for something named before. */
const continued = /^\P{L}*(?:and|but|also|or|what about|how about|what if)\b/iu;
const referring = /\b(?:it|its|that|this|these|those|they|them|their|one|there|then|same)\b/iu;

const mostTexts = 3;

/**
 * Returns the earlier texts without which a question cannot be understood, oldest first: "And on Windows?" needs the
 * question before it, and that one possibly the question before. Empty for a question that names its own subject.
 */
export function referredTexts(question: string, earlier: readonly string[]): string[] {
  const referred: string[] = [];
  let current = question;
  for (const text of earlier.toReversed()) {
    if (referred.length === mostTexts || !(continued.test(current) || referring.test(current))) break;
    referred.unshift(text);
    current = text;
  }
  return referred;
}
