import { expect, it } from 'vitest';
import { citationsOf } from '../../../../../api/assistant/citations/citations.ts';
import { foldNames, haveName, isEnglish, namesIn } from '../../../../../api/assistant/citations/names.ts';
import { fc } from '../../../../support/properties.ts';

const english = { isHeading: false, isEnglish: true };
const sources = [{ id: 'src_1', path: 'storage', url: '/storage', title: 'Storage' }];
const page = {
  path: 'storage',
  text: `Storage
The sessions are stored in Redis or Google Cloud SQL, and the [webhooks](/x) are signed as *Standard Webhooks*.
A policy of AWS's IAM limits every JWT. Font-Awesome and OAuth2 are supported, and so is UTF-8.`,
};

function unsupportedIn(sentence: string, known = ''): string[] {
  const pathOf = (url: string) => (url === '/storage' ? 'storage' : null);
  const answer = `${sentence} ([Storage](/storage)).`;
  const findPassages = () => [];
  const citations = citationsOf(answer, { sources, shown: [page], known: () => known, pathOf, findPassages });
  return [...citations].flatMap(({ unsupported }) => unsupported);
}

it.each([
  ['a name', 'The sessions are stored in Memcached', ['Memcached']],
  ['a name of several words', 'It is signed as one of the Standard Hooks', ['Standard Hooks']],
  ['a name after a beginning', 'Google Spanner keeps what is in the cache of it', ['Spanner']],
  ['a word of a name', 'The sessions are in the Amazon Cloud of the site', ['Amazon Cloud']],
  ['an acronym', 'The policy of GCP limits which of them is used', ['GCP']],
  ['a name with an inner capital', 'Es läuft auf PostgreSQL', ['PostgreSQL']],
  ['a name beside letters without spaces', '默认使用MySQL', ['MySQL']],
  ['the names of a cell', '| The store of the site | Google Spanner |', ['Spanner']],
])('finds %s that the cited page does not contain', (_, sentence, unsupported) => {
  expect(unsupportedIn(sentence)).toEqual(unsupported);
});

it.each([
  'The sessions of the site are in redis or in GOOGLE CLOUD SQL',
  'It is signed by a StandardWebhook, as is Redis’s',
  'It is in the Cloud of Google, with the Policies of AWS and its JWTs',
  'You can use FontAwesome or Font Awesome with it',
  'Memcached is the first word of it, and The Use of it is that of a page',
  '**Session Store**: The page says what it is: Everything that is in there',
  '# The Name of Another Heading and of the Page',
  'See the [Names of Other Pages](/x) for what is in it',
  'The API of the site returns JSON, i.e. REST-like, or a URL of it',
  'Die Sitzungen liegen in einem Speicher, z.B. auf der Festplatte',
  'Das JSON-Schema der OAuth2-Scopes der UTF-8-Kodierung des **Redis**-Servers',
  'La IA de Ventas usa el RGPD',
  'It is _very_ important that I use it',
])('takes no offence at %j', (sentence) => {
  expect(unsupportedIn(sentence)).toEqual([]);
});

it('accepts the names of the question and of the site', () => {
  expect(unsupportedIn('The sessions of it are never in Memcached', 'Can I use memcached?')).toEqual([]);
});

it('finds the names of a text that has them, however it is written', () => {
  const name = fc.stringMatching(/^[A-Z][a-z]{4,9}$/).filter((word) => namesIn(`of ${word}`, english).length === 1);
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.constantFrom(' ', '-', ''), (words, separator) => {
      const [found, ...others] = namesIn(`It is stored in the ${words.join(' ')} of it.`, english);
      expect(others).toEqual([]);
      for (const text of [words.join(separator), words.join(separator).toUpperCase(), `${words.join(separator)}'s`])
        expect(found !== undefined && haveName([foldNames(`The ${text} is here.`)], found)).toBe(true);
      expect(found !== undefined && haveName([foldNames('It says nothing of it.')], found)).toBe(false);
    }),
  );
});

it('accepts every sentence of a page as one about it', () => {
  const word = fc.constantFrom(
    'the',
    'is',
    'of',
    'to',
    'Redis',
    'AWS',
    'PostgreSQL',
    'x-Ray',
    "O'Neil",
    'É',
    'JWTs',
    'ß',
    '**',
    '–',
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), (words) => {
      const text = words.join(' ');
      for (const name of namesIn(text, english)) expect(haveName([foldNames(text)], name)).toBe(true);
    }),
  );
});

it('takes linear time on a hostile text', () => {
  const hostile = ['Aa ', 'AAA-', 'aA', "A'", 'A', '_', '-Aa', ' ', '[', 'Aa. ', 'A\u0301 ', '|', 'a'];
  for (const part of hostile) {
    const text = part.repeat(100_000 / part.length);
    // quadratic behavior would exceed the time limit of the test
    expect(haveName([foldNames(text)], { text: 'Xa Xb', words: ['Xa', 'Xb'] })).toBe(false);
    expect(isEnglish(text)).toBe(false);
    expect(namesIn(text, english).length).toBeLessThanOrEqual(text.length);
  }
});
