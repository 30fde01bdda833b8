import { expect, it } from 'vitest';
import { mergeParts, partsOf } from '../../../../search/query/split-question.ts';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const questionsOf = (query: string) => partsOf({ query, limit: 5 }).map((part) => part.query);

it.each([
  [
    'How do I set the retry limit and where do I see failed webhooks?',
    'How do I set the retry limit',
    'where do I see failed webhooks?',
  ],
  ['Can I pair a lamp, how do I name it?', 'Can I pair a lamp', 'how do I name it?'],
  ['How do I pair a lamp? And is there a timer?', 'How do I pair a lamp?', 'is there a timer?'],
  ['How do I pair a lamp? Also, is there a timer?', 'How do I pair a lamp?', 'is there a timer?'],
  ['¿Cómo emparejo una lámpara? ¿Hay un temporizador?', '¿Cómo emparejo una lámpara?', '¿Hay un temporizador?'],
  ['ランプはどう接続しますか？タイマーはありますか？', 'ランプはどう接続しますか？', 'タイマーはありますか？'],
])('splits %j', (query, ...questions) => {
  expect(questionsOf(query)).toEqual(questions);
});

it.each([
  'How do I create and delete a webhook?',
  'What is the difference between a job and a turn?',
  'How do I know whether a job failed or is archived?',
  'How do I pair a lamp? It is a new one.',
  'Tell me when and how to rotate a key',
  'How do I pair a lamp, and why?',
  'How does it work and what is it?',
  'What is a? What is b? What is c? What is d?',
  `How do I pair ${'a lamp '.repeat(100)} and how do I name it?`,
])('leaves %j as one', (query) => {
  expect(questionsOf(query)).toEqual([]);
});

it('gives a part the words of what it refers to', () => {
  expect(partsOf({ query: 'How do I pair a lamp and how do I name it?', limit: 5, referred: ['Before'] })).toEqual([
    expect.objectContaining({ query: 'How do I pair a lamp', referred: ['Before'] }),
    expect.objectContaining({ query: 'how do I name it?', referred: ['Before', 'How do I pair a lamp'] }),
  ]);
});

it('takes time in proportion to a hostile text', () => {
  expect(questionsOf(`${' ,'.repeat(249)}?`)).toEqual([]);
  expect(questionsOf(`${'and '.repeat(120)}`)).toEqual([]);
});

const lamps = buildPage({ path: 'lamps', content: '# Lamps\n\nHold the button to pair a lamp.\n' });
const wifi = Array.from({ length: 8 }, (_, at) =>
  buildPage({ path: `wifi-${at}`, content: `# Wireless network ${at}\n\nChoose the password of the network.\n` }),
);

it('finds passages for both halves, the best of the whole question first', () => {
  using index = indexOf(temporaryDirectory(), [lamps, ...wifi]);
  const query = 'How do I choose the password of the network, and how do I pair a lamp?';
  const hits = index.search({ query, limit: 3 });
  expect(hits.map((hit) => hit.path)).toContain('lamps');
  expect(hits).toHaveLength(3);
  expect(hits[0]!.path).toBe(index.search({ query, limit: 3, vector: [1] })[0]!.path);
});

it('keeps what was found for the whole if nothing answers a half', () => {
  using index = indexOf(temporaryDirectory(), [lamps, ...wifi]);
  const query = 'How do I choose the password of the network, and how do I bake bread?';
  const request = { query, limit: 5 };
  expect(index.search(request)).toEqual(index.search({ ...request, vector: [1] }));
  const [hit] = index.search({ query: 'pair a lamp', limit: 1 });
  expect(mergeParts([hit!], [[hit!], []], { weakScore: 0, limit: 5 })).toEqual([hit]);
});
