import { expect, it } from 'vitest';
import { clusterQuestions, keyOfQuestion, type ReaderQuestion } from '../../../../search/query/cluster-questions.ts';
import { fc } from '../../../support/properties.ts';

const asked = (...texts: string[]): ReaderQuestion[] =>
  texts.map((text, minute) => ({
    text,
    askedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    notFound: true,
    votedDown: false,
    remark: null,
  }));

const shown = (questions: ReaderQuestion[]) =>
  clusterQuestions(questions).map(({ questions }) => questions.map(({ text, count }) => `${text} ×${count}`));

it('groups questions that share most of their words, and counts identical ones', () => {
  const questions = asked(
    'How do I reset my lamp?',
    'how do I reset the lamp',
    'Can I use Docket with Kubernetes?',
    'resetting lamps',
    'HOW DO I RESET MY LAMP!',
    'Is there a dark mode?',
    'running on Kubernetes with docket',
  );
  expect(shown(questions)).toEqual([
    ['How do I reset my lamp? ×2', 'how do I reset the lamp ×1', 'resetting lamps ×1'],
    ['Can I use Docket with Kubernetes? ×1', 'running on Kubernetes with docket ×1'],
    ['Is there a dark mode? ×1'],
  ]);
});

it('separates questions that share only a subject', () => {
  expect(shown(asked('How do I reset the lamp?', 'Which bulbs fit the lamp socket?'))).toHaveLength(2);
});

it('reads scripts without spaces, and questions without any distinctive word', () => {
  expect(shown(asked('ランプをリセットする方法', 'ランプをリセットする', 'why?', 'Why', '???'))).toEqual([
    ['why? ×2'],
    ['ランプをリセットする方法 ×1', 'ランプをリセットする ×1'],
  ]);
});

const words = fc.array(fc.constantFrom('lamp', 'reset', 'scene', 'dark', 'mode', 'install', 'the', 'how'), {
  maxLength: 6,
});
const questions = fc.array(
  words.map((list) => list.join(' ')),
  { maxLength: 30 },
);

it('depends on what was asked and when, not on the reading order; no question is lost or duplicated', () => {
  fc.assert(
    fc.property(questions, (texts) => {
      const list = asked(...texts);
      const clusters = clusterQuestions(list);
      expect(clusterQuestions(list.toReversed())).toEqual(clusters);
      const keys = clusters.flatMap(({ questions }) => questions.map(({ key }) => key));
      expect(keys.toSorted()).toEqual([...new Set(texts.map(keyOfQuestion).filter((key) => key !== ''))].toSorted());
      expect(new Set(clusters.map(({ id }) => id)).size).toBe(clusters.length);
    }),
  );
});

it('keeps the id of a cluster when others join it', () => {
  const [before] = clusterQuestions(asked('How do I reset the lamp?'));
  const [after] = clusterQuestions(asked('How do I reset the lamp?', 'reset lamp', 'reset lamp', 'lamp reset please'));
  expect(after?.id).toBe(before?.id);
  expect(after?.questions).toHaveLength(3);
});

it('takes little time for thousands of different questions', () => {
  const texts = Array.from({ length: 2_000 }, (_, number) => `lamp alpha${number} beta${number} gamma${number % 50}`);
  expect(clusterQuestions(asked(...texts))).toHaveLength(2_000);
});

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** Words of two letters, none of them a stop word. */
const shortWords = [...letters]
  .flatMap((one) => [...letters].map((other) => `${one}${other}`))
  .filter((word) => !/^(?:[aiou].|.[aeiouy])$/.test(word));

// the number of questions that share words must not matter: 2,000 once took 36 seconds
function groupMany(length: number, vocabulary: readonly string[]): void {
  let seed = 1;
  const next = () => (seed = (seed * 48_271) % 2_147_483_647);
  const texts = Array.from({ length: 2_000 }, () =>
    Array.from({ length }, () => vocabulary[next() % vocabulary.length]).join(' '),
  );
  const before = process.threadCpuUsage();
  const clusters = clusterQuestions(asked(...texts));
  expect(process.threadCpuUsage(before).user / 1e6).toBeLessThan(6);
  const keys = clusters.flatMap(({ questions }) => questions.map(({ key }) => key));
  expect(keys.toSorted()).toEqual([...new Set(texts.map(keyOfQuestion))].toSorted());
}

it('groups 2,000 questions of the same dozen words in a few seconds', () => groupMany(8, shortWords.slice(0, 12)));

it.each([
  ['hundreds of short words each', 330, shortWords],
  ['words of which no two questions have all', 40, shortWords.slice(0, 120)],
] as const)('groups 2,000 questions of %s in a few seconds', { tags: 'slow' }, (_, length, vocabulary) =>
  groupMany(length, vocabulary),
);

it('finds the similar question among thousands that share its frequent words', () => {
  const others = Array.from({ length: 3_000 }, (_, at) => `docket scene lamp number${at} topic${at} matter${at}`);
  const list = asked(...others, 'docket scene lamp number77 topic77 please', 'docket scene lamp');
  const with77 = clusterQuestions(list).find(({ questions }) =>
    questions.some(({ text }) => text.includes('number77 ')),
  );
  expect(with77?.questions.map(({ text }) => text)).toContain('docket scene lamp number77 topic77 please');
});

it('counts why each question is unanswered, with the latest remarks', () => {
  const questions = asked('reset', 'Reset?', 'reset!', 'reset', 'paint').map((question, index) => ({
    ...question,
    notFound: index % 2 === 0,
    votedDown: index > 0,
    remark: index === 0 ? null : `remark ${index}`,
  }));
  const why = clusterQuestions(questions).map(({ questions: [question] }) => question);
  expect(why).toMatchObject([
    { text: 'reset', count: 4, notFound: 2, votedDown: 3, remarks: ['remark 3', 'remark 2', 'remark 1'] },
    { text: 'paint', count: 1, notFound: 1, votedDown: 1, remarks: ['remark 4'] },
  ]);
});
