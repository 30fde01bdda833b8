import { expect, it } from 'vitest';
import { createCitedPassages } from '../../../../../api/assistant/citations/cited-passages.ts';
import type { Fact } from '../../../../../api/assistant/citations/passage-facts.ts';

const limit = {
  path: 'retries',
  url: '/retries#limit',
  title: 'Limit',
  content:
    '## Limit\n\nA request is sent again three times. Set `retryLimit` to change **how often**.\n\n| a | b |\n| - | - |\n| delay | window |',
};
const delay = {
  path: 'retries',
  url: '/retries#delay',
  title: 'Delay',
  content:
    '- Requests wait for 1,500 ms.\n- The `backoff` doubles the wait after each attempt.\n\n```js\nbackoff = 2;\n```',
};
const install = { path: 'install', url: '/install', title: 'Install', content: 'Run the installer, and wait for it.' };
const shown = [limit, delay, install].map((passage) => ({ ...passage, text: `${passage.title}\n${passage.content}` }));
const findPassages = await createCitedPassages(shown);
const find = (sentence: string, paths: string[], facts: Fact[] = []) => findPassages(sentence, { paths, facts });

it.each([
  ['The limit of requests is changed by `retryLimit`.', limit, 'Set `retryLimit` to change **how often**.'],
  ['Each attempt doubles the wait.', delay, 'The `backoff` doubles the wait after each attempt.'],
  ['Es wird 1,500 ms gewartet, was `backoff` verdoppelt.', delay, 'Requests wait for 1,500 ms.'],
])('finds the passage behind %j, and its nearest sentence', (sentence, { path, url, title }, quote) => {
  expect(find(sentence, ['retries'])).toEqual([{ path, url, title, quote }]);
});

it('takes no passage of another page than the sentence cites', () => {
  expect(find('Run the installer.', ['retries'])[0]?.path).toBe('retries');
  expect(find('Run the installer.', ['gone'])).toEqual([]);
});

it('prefers the section that the sentence links to among equals', () => {
  expect(find('See [here](/retries#delay).', ['retries'])[0]?.url).toBe('/retries#delay');
  expect(find('The `retryLimit` changes it ([Delay](/retries#delay)).', ['retries'])[0]?.url).toBe('/retries#limit');
});

it('takes the first passage of a page that shares no words with the sentence, and quotes nothing', () => {
  expect(find('Nichts davon.', ['retries'])).toMatchObject([{ url: '/retries#limit', quote: null }]);
  expect(find('The delay is a window.', ['retries'])[0]?.quote).toBeNull();
});

it('names a passage for a sentence that cites no page only if it has most of its words', () => {
  expect(find('Run the installer and wait.', [])).toMatchObject([{ url: '/install' }]);
  expect(find('Run the coffee machine in the kitchen next door.', [])).toEqual([]);
});

it('prefers the passage that has the facts of a sentence', () => {
  expect(find('Requests have `retryLimit` or `backoff`.', ['retries'])[0]?.url).toBe('/retries#limit');
  expect(find('Requests have `retryLimit` or `backoff`.', ['retries'], ['backoff'])[0]?.url).toBe('/retries#delay');
});

it('names further passages until they have all facts of the sentence', () => {
  const urls = (facts: Fact[], paths = ['retries']) =>
    find('A request is sent again three times.', paths, facts).map(({ url }) => url);
  expect(urls(['retryLimit'])).toEqual(['/retries#limit']);
  expect(urls(['retryLimit', '1500', 'backoff'])).toEqual(['/retries#limit', '/retries#delay']);
  expect(urls([{ text: 'Installer', words: ['Installer'] }], [])).toEqual(['/retries#limit', '/install']);
  expect(urls(['nowhere'])).toEqual(['/retries#limit']);
});
