import { afterAll, expect, it } from 'vitest';
import { findsExpected, pathsOfExpected } from '../../../../search/query/finds-expected.ts';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const baseUrl = 'https://docs.acme.com/docs/';
const index = indexOf(temporaryDirectory(), [
  buildPage({ path: 'README', content: 'The start page of Acme.' }),
  buildPage({ path: 'guides/scenes/index', content: 'A zebra has stripes and no spots.' }),
  buildPage({ path: 'guides/café', content: 'Coffee is served in the café.' }),
]);
afterAll(() => index[Symbol.dispose]());

it.each([
  ['guides/scenes', 'guides/scenes/index'],
  ['/guides/scenes/', 'guides/scenes/index'],
  ['guides/scenes/index', 'guides/scenes/index'],
  ['guides/scenes/index.rst', 'guides/scenes/index'],
  ['guides/scenes.adoc#top', 'guides/scenes/index'],
  ['https://docs.acme.com/docs/guides/scenes?x=1', 'guides/scenes/index'],
  ['/guides/caf%C3%A9', 'guides/café'],
  ['/', 'README'],
  ['https://docs.acme.com/docs', 'README'],
  ['https://docs.acme.com/docs#top', 'README'],
  ['https://docs.acme.com/docset/guides/scenes', undefined],
  ['https://else.example/guides/scenes', undefined],
  ['guides/none', undefined],
])('knows the expected page %j', (page, path) => {
  expect(pathsOfExpected(index, { expectedPages: [page], baseUrl })).toEqual(path === undefined ? [] : [path]);
});

it('finds an expected page by its URL', () => {
  const question = { text: 'Does a zebra have stripes?', expectedFacts: [], expectsAnswer: true };
  const finds = (page: string) => findsExpected(index, { ...question, expectedPages: [page] }, baseUrl);
  expect([finds('https://docs.acme.com/docs/guides/scenes/'), finds('/guides/café')]).toEqual([true, false]);
});
