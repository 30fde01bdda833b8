import type { SourceFile } from '../../../../search/read/source-file.ts';

const verbs =
  'create configure delete rotate deploy inspect rename restore monitor schedule validate export import retry'.split(
    ' ',
  );
const nouns =
  'token webhook pipeline cluster schema index queue volume policy certificate runner template snapshot gateway session role tenant bucket replica trigger channel deployment secret quota'.split(
    ' ',
  );
const areas = 'guides reference operations concepts tutorials integrations security billing'.split(' ');
const common =
  'the a to of and is in that for it with as on by be are this from or when you can an at if not each will then than which your must only its one all before after while'.split(
    ' ',
  );
const syllables =
  'ba co di fer gra lin mo nex or pel qua ris sol tam ul ver wen xi yor zen cal dro eth fin hab jun kel lur'.split(' ');
const vocabularySize = 20_000;

/** Random numbers from a seed, the same in every run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface GeneratedSite {
  files: SourceFile[];
  /** Questions that the pages answer. */
  questions: string[];
  bytes: number;
}

/** A documentation site: about 4 KB per page, word frequencies as in a language, code with identifiers. */
export function generateSite(pages: number, questions: number): GeneratedSite {
  const random = createRandom(pages);
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!;
  const vocabulary = Array.from({ length: vocabularySize }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => pick(syllables)).join(''),
  );
  // Zipf: the word of rank r occurs 1/r as often as the first
  const word = () => {
    if (random() < 0.42) return pick(common);
    return random() < 0.2 ? pick(nouns) : vocabulary[Math.floor(vocabularySize ** random()) - 1]!;
  };
  const sentence = () => {
    const words = Array.from({ length: 8 + Math.floor(random() * 14) }, word).join(' ');
    return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
  };
  const paragraph = () => Array.from({ length: 2 + Math.floor(random() * 3) }, sentence).join(' ');
  const identifier = (verb: string, noun: string) => `${verb}${capital(noun)}${capital(pick(vocabulary))}`;

  const files: SourceFile[] = [];
  const subjects: { title: string; heading: string; name: string; words: string[] }[] = [];
  let bytes = 0;
  for (let page = 0; page < pages; page += 1) {
    const [verb, noun] = [pick(verbs), pick(nouns)];
    const title = `${capital(verb)} a ${noun} ${pick(vocabulary)}`;
    const sections = Array.from({ length: 3 + Math.floor(random() * 4) }, () => {
      const name = identifier(verb, noun);
      const heading = `${capital(pick(verbs))} the ${pick(nouns)} ${pick(vocabulary)}`;
      const text = [paragraph(), paragraph()];
      subjects.push({ title, heading, name, words: text[0]!.split(' ').slice(0, 6) });
      const code = `\`\`\`ts\nconst ${pick(vocabulary)} = await client.${name}({ ${pick(nouns)}Id: '${pick(vocabulary)}' });\n\`\`\``;
      return `## ${heading}\n\n${text[0]}\n\n${code}\n\n${text[1]}\n`;
    });
    const text = `---\ntitle: ${title}\ntags: [${noun}]\n---\n\n${paragraph()}\n\n${sections.join('\n')}`;
    bytes += text.length;
    files.push({ path: `${pick(areas)}/${verb}-${noun}-${page}.md`, read: () => text });
  }
  const forms = [
    ({ title }: (typeof subjects)[number]) => `How do I ${title.toLowerCase()}?`,
    ({ heading }: (typeof subjects)[number]) => `What do I need to ${heading.toLowerCase()} and when?`,
    ({ name }: (typeof subjects)[number]) => name,
    ({ name }: (typeof subjects)[number]) => `what does ${name} return`,
    ({ words }: (typeof subjects)[number]) => words.join(' '),
  ];
  return { files, bytes, questions: Array.from({ length: questions }, () => pick(forms)(pick(subjects))) };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
