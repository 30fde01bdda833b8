import { expect, it } from 'vitest';
import { createSupportFilter } from '../../../../../api/assistant/citations/cut-unsupported.ts';

const shown = [
  { path: 'retries', text: 'Set `retry_limit` or pass --retries. The default is 3, and the delay 1,500 ms.' },
  { path: 'limits', text: 'At most 100 requests per second.' },
];
const known = () => '';
const pathOf = (url: string) => (url === '/retries' ? 'retries' : url === '/limits' ? 'limits' : null);

/** Filters an answer that arrives in pieces of three characters. */
function keptOf(answer: string): [kept: string, leftOut: number] {
  const filter = createSupportFilter({ shown, known, pathOf });
  let kept = '';
  for (let at = 0; at < answer.length; at += 3) kept += filter.push(answer.slice(at, at + 3));
  kept += filter.flush();
  return [kept, filter.leftOut()];
}

it.each([
  'The default is 3 ([Retries](/retries)). It waits 1500 ms.\n\n- Set `retry_limit`.\n- Pass `--retries`.\n',
  '# Retries\n\n```js\nretry_limit = 3;\n\nretry_limit;\n```\n\n| a | b |\n| --- | --- |\n| `retry_limit` | 3 |\n',
  'First\nsecond line.\n\n\n\n> Quoted.\n\n1. One.\n2. Two.',
  '| no table\n\n|a|\n|-|\n',
])('keeps %j as it is', (answer) => {
  expect(keptOf(answer)).toEqual([answer, 0]);
});

it.each([
  ['a sentence', 'Set `retry_limit`. The default is 5. Good luck.', 'Set `retry_limit`. Good luck.'],
  ['the last sentence of a line', 'Set it. The default is 5.\nNext to it.', 'Set it. Next to it.'],
  ['an item', '- Set `retry_limit`.\n- Pass `--retry-all`.\n- Done.\n', '- Set `retry_limit`.\n- Done.\n'],
  ['the start of an item', '- Pass `--retry-all`. Done.\n- More.\n', '- Done.\n- More.\n'],
  ['a sentence over two lines', 'Set `retry_limit`\nto 9. Done.', 'Done.'],
  ['code as a whole', 'Do:\n\n```js\nok;\n\nmaxRetries = 9;\n```\n\nDone.', 'Do:\n\nDone.'],
  ['a row', '|a|b|\n|-|-|\n|`retry_limit`|3|\n|`maxRetries`|9|\n\nDone.', '|a|b|\n|-|-|\n|`retry_limit`|3|\n\nDone.'],
  ['a table without its head', '|`maxRetries`|b|\n|-|-|\n|x|3|\n\nDone.', 'Done.'],
  ['a table without rows', '|a|b|\n|-|-|\n|`maxRetries`|9|\n\nDone.', 'Done.'],
  [
    'a fact of another page',
    'At most 100 ([Retries](/retries)).\n\nAt most 100 ([Limits](/limits)).',
    'At most 100 ([Limits](/limits)).',
  ],
])('leaves out %s', (_, answer, kept) => {
  expect(keptOf(answer)[0].trimEnd()).toBe(kept.trimEnd());
  expect(keptOf(answer)[1]).toBeGreaterThan(0);
});

it('splits neither code nor links at their periods', () => {
  expect(keptOf('Run `a. B retry_limit 9 c. D` now. Done.')[0]).toBe('Done.');
  expect(keptOf('See [Set. Up 9](/retries) now. Done.')[0]).toBe('Done.');
});

it('is linear in hostile answers', () => {
  for (const text of [
    '- '.repeat(100_000),
    '['.repeat(100_000),
    '`'.repeat(100_000),
    '|\n'.repeat(50_000),
    '> 1. '.repeat(40_000),
  ])
    expect(keptOf(text)[0].length).toBeLessThanOrEqual(text.length);
});
