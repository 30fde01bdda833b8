/** Words with which a question continues an earlier one, by language. */
const continuing = {
  english: 'and|but|also|or|what about|how about|what if',
  german: 'und|aber|oder|auch|was ist mit',
  french: 'et|mais|ou|aussi',
  // the French "Y a-t-il" is not the Spanish "y"; "o" is also a Portuguese article
  spanish: 'y(?! a)|pero|también',
  portuguese: 'e|mas|também',
};
const continued = new RegExp(
  String.raw`^\P{L}*(?:(?:${Object.values(continuing).join('|')})(?![\p{L}\p{M}\p{N}_])|那|还有|另外)`,
  'iu',
);

/**
 * Words that refer to something named before, by language. A word with another meaning, in any of these languages,
 * counts only next to words that rule that meaning out: for example, an article before an infinitive is a pronoun.
 */
const referring = [
  /\b(?:it|its|that|this|these|those|they|them|their|one|there|then|same)\b/iu,
  // German nouns and the polite "Sie" are capitalized
  wordIn(
    String.raw`sie|ihn|ihm|ihnen|dies|diese[rsnm]?|davon|dafür|(?<!,\s)damit|dazu|darin|darauf|daran|dabei|daraus|dort|dasselbe|(?<=(?:ich|man|[Kk]ann|[Ww]ie|wenn|[Ii]st|[Ww]ird|[Gg]eht|[Ll]äuft|[Ff]unktioniert)\s)(?:es|das(?=\s\p{Ll}|\s?\?|$))`,
    'u',
  ),
  wordIn(
    String.raw`cel(?:ui|le)s?-ci|ceux-ci|cela|ça|ceci|(?:comment|pour|peut-on|puis-je|dois-je|faut-il|peux|peut)\s(?:(?:l['’]|(?:les?|la)\s)\p{L}+(?:er|ir|ttre|ndre)|en|y)`,
  ),
  wordIn(
    String.raw`él|ellos?|ellas?|esto|eso|es[eao]s?|est[eao]s?|ést[eao]s?|(?:cómo|puedo|debo|se|dónde)\s(?:lo|las?|los)|\p{L}+[aei]r(?:lo|la|le)s?`,
  ),
  wordIn(String.raw`el[ea]s?|n?d?isso|n?d?isto|[nd]?ess[ea]s?|[nd]?est[ea]s?|[nd]el[ea]s?|\p{L}+-l[oa]s?`),
  /それ|これ|あれ|[そこ]の(?!他)|そこ|ここ|(?:では|場合は|でもできますか)[？?]?$/u,
  /[它此]|其(?!他)|[这那][个些种样]|呢[？?]?$/u,
];

function wordIn(words: string, flags = 'iu'): RegExp {
  return new RegExp(String.raw`(?<![\p{L}\p{M}\p{N}_])(?:${words})(?![\p{L}\p{M}\p{N}_])`, flags);
}

const maxTexts = 3;

/**
 * Reports whether a question cannot be understood on its own. Reads English, German, French, Spanish, Portuguese, Japanese
 * and Chinese.
 */
export function needsOtherTexts(question: string): boolean {
  return continued.test(question) || referring.some((words) => words.test(question));
}

/**
 * Returns the earlier texts that a question needs to be understood, oldest first: "And on Windows?" needs the question
 * before it, which may in turn need an earlier one. Empty for a question that names its own subject.
 */
export function referredTexts(question: string, earlier: readonly string[]): string[] {
  const referred: string[] = [];
  let current = question;
  for (const text of earlier.toReversed()) {
    if (referred.length === maxTexts || !needsOtherTexts(current)) break;
    referred.unshift(text);
    current = text;
  }
  return referred;
}
