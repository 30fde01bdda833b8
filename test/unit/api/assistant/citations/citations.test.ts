import { expect, it } from 'vitest';
import { citationsOf } from '../../../../../api/assistant/citations/citations.ts';

const sources = [
  { id: 'src_1', path: 'retries', url: '/retries', title: 'Retries' },
  { id: 'src_2', path: 'limits', url: '/limits', title: 'Limits' },
];
const shown = [
  { path: 'retries', text: 'Set `retry\\_limit` or pass --retries. The default is 3, and the delay 1,500 ms.' },
  { path: 'limits', text: 'At most 100 requests per second.' },
];
const known = () => '';
const pathOf = (url: string) => sources.find((source) => source.url === url.replace(/#.*/, ''))?.path ?? null;
const findPassages = () => [];
const citationsIn = (answer: string, passages = shown) => [
  ...citationsOf(answer, { sources, shown: passages, known, pathOf, findPassages }),
];

function cite(answer: string) {
  return citationsIn(answer).map((citation) => [citation.sources, citation.unsupported]);
}

it('attributes each sentence to the page it links to', () => {
  expect(cite('The default is 3 ([Retries](/retries#x)). There are 100 per second ([Limits](/limits)).')).toEqual([
    [['src_1'], []],
    [['src_2'], []],
  ]);
});

it('attributes a sentence without a link to its paragraph’s page, else to the latest', () => {
  expect(cite('Set `retry_limit`. See [Retries](/retries).\n\nPass `--retries`.')).toEqual([
    [['src_1'], []],
    [['src_1'], []],
    [['src_1'], []],
  ]);
});

it.each([
  ['a number', 'The default is 5 ([Retries](/retries)).', ['5']],
  ['a number of another page', 'The default is 100 ([Retries](/retries)).', ['100']],
  ['code', 'Set `retryCount` ([Retries](/retries)).', ['retryCount']],
  ['an option', 'Pass --retry-all ([Retries](/retries)).', ['--retry-all']],
  ['an identifier', 'Set maxRetries ([Retries](/retries)).', ['maxRetries']],
])('finds %s that its page does not contain', (_, answer, unsupported) => {
  expect(cite(answer)).toEqual([[['src_1'], unsupported]]);
});

it.each([
  'The delay is 1500 ms ([Retries](/retries)).',
  'A self-hosted server retries, too ([Retries](/retries)).',
  '1. Set `retry_limit` ([Retries](/retries)).',
  'Type `\\\\` ([Retries](/retries)).',
  'Set retry\\_limit ([Retries](/retries)).',
  '默认值是3次，延迟是1,500毫秒 ([Retries](/retries)).',
])('takes no offence at %j', (answer) => {
  expect(cite(answer)).toEqual([[['src_1'], []]]);
});

it('finds facts beside letters of a script without spaces', () => {
  const passage = { path: 'retries', text: '每个密钥最多100个请求。请参见下方GitLab设置。' };
  const unsupportedIn = (answer: string) => citationsIn(answer, [passage]).flatMap(({ unsupported }) => unsupported);
  expect(unsupportedIn('限制是100个请求，适用于GitLab。')).toEqual([]);
  expect(unsupportedIn('限制是10个请求，适用于GitHub。')).toEqual(['10', 'GitHub']);
});

it('names every invented number of a long sentence', () => {
  const numbers = Array.from({ length: 60 }, (_, at) => String(2_000 + at));
  expect(cite(`The values are ${numbers.join(', ')} ([Retries](/retries)).`)).toEqual([[['src_1'], numbers]]);
});

it.each([
  [
    'the plural of code',
    'Of `str`, a `kind`, use `Enum`s.',
    'An `Enum` has `Enum`s.',
    'An `Enun` has `Enun`s.',
    'Enun',
  ],
  ['code in a word', 'It is `g`reater than `fd`s.', 'Of `g`, use `fd`.', 'Of `gg`, use `fd`.', 'gg'],
  [
    'code beside a word',
    'Its `Session`-level state, `None`-able.',
    '`Session`-level.',
    '`Sessions`-level.',
    'Sessions',
  ],
  ['the possessive of code', 'The `Enum`’s value.', 'An `Enum`’s value, `Enum`s.', 'An `Enums`’s value.', 'Enums'],
])('takes %s for the code', (_, text, stated, wrong, marked) => {
  const unsupportedIn = (answer: string) => citationsIn(answer, [{ path: 'retries', text }])[0]?.unsupported;
  expect(unsupportedIn(text)).toEqual([]);
  expect(unsupportedIn(stated)).toEqual([]);
  expect(unsupportedIn(wrong)).toEqual([marked]);
});

const apart = [
  { path: 'retries', text: 'Timeout\nThe timeout of a request is 30 seconds.' },
  { path: 'retries', text: 'Attempts\nA failed call is retried 5 times. The service stops after 2 minutes.' },
];

it.each([
  ['The timeout is 5 seconds ([Retries](/retries)).', ['5']],
  ['A failed call is retried 2 times ([Retries](/retries)).', []],
  ['The timeout of a request is 2 seconds ([Retries](/retries)).', ['2']],
  ['The timeout is 30 seconds ([Retries](/retries)).', []],
  ['The timeout is 30 seconds, and a call is retried 5 times ([Retries](/retries)).', []],
  ['A call is retried 5 times, each with a timeout of 30 seconds ([Retries](/retries)).', []],
  ['Nach 5 Versuchen ist Schluss, das Timeout beträgt 30 Sekunden ([Retries](/retries)).', []],
  ['It gives up after 5 ([Retries](/retries)).', []],
])('finds the numbers of %j that are those of another passage', (answer, unsupported) => {
  expect(citationsIn(answer, apart).map((citation) => citation.unsupported)).toEqual([unsupported]);
});

it('compares a number with the sentences that have it, and not with others of their passage', () => {
  const [timeout, attempts] = apart;
  const text = `${attempts!.text} A request after its timeout waits for 9 seconds.`;
  const [citation] = citationsIn('The timeout of a request is 5 seconds ([Retries](/retries)).', [
    timeout!,
    { path: 'retries', text },
  ]);
  expect(citation?.unsupported).toEqual(['5']);
});

it('supports nothing by a page that the model was not shown', () => {
  const limits = shown.filter(({ path }) => path === 'limits');
  const unsupportedIn = (answer: string) => citationsIn(answer, limits).map(({ unsupported }) => unsupported);
  expect(unsupportedIn('At most 100 requests ([Retries](/retries)).')).toEqual([['100']]);
  expect(unsupportedIn('See [100 requests](/retries), not [7](/retries).')).toEqual([['7']]);
  expect(unsupportedIn('At most 100 requests. More in [Retries](/retries).\n\nSo 100.')).toEqual([[], [], []]);
});

it('passes what it found to the choice of the passages', () => {
  const given: unknown[] = [];
  const answer = 'Set `retry_limit` to 7 ([Retries](/retries)).';
  const spy = (_: string, options: unknown) => (given.push(options), []);
  expect([...citationsOf(answer, { sources, shown, known, pathOf, findPassages: spy })]).toHaveLength(1);
  expect(given).toEqual([{ paths: ['retries'], facts: ['retry_limit'] }]);
});

it('compares a sentence without any source with all that was shown', () => {
  expect(cite('There are 100 requests.')).toEqual([[[], []]]);
  expect(cite('There are 7 requests.')).toEqual([[[], ['7']]]);
});

it('has an entry for each sentence of an answer of normal length, and checks it', () => {
  const answer = Array.from({ length: 100 }, (_, at) => `There are ${at + 1_000}. Or ${at + 2_000}.\n\n`).join('');
  const citations = citationsIn(answer);
  expect(citations).toHaveLength(200);
  expect(citationsIn(answer.repeat(3)).at(-1)).toMatchObject({ text: 'Or 2099.', unsupported: ['2099'] });
});

it('bounds its work for any answer', () => {
  expect(citationsIn('`a` 1. '.repeat(30_000))).toHaveLength(1_000);
  const inOneBlock = citationsIn('There are 7. '.repeat(1_000)).filter(({ unsupported }) => unsupported.length > 0);
  expect(inOneBlock).toHaveLength(300);
  const inMany = citationsIn(`${Array.from({ length: 90 }, (_, at) => at + 200).join(', ')} a.\n\n`.repeat(100));
  expect(inMany.flatMap(({ unsupported }) => unsupported)).toHaveLength(3_000);
});
