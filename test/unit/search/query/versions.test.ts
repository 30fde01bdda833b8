import { expect, it } from 'vitest';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const versions = ['1.0', '1.1', '2.0', '3.0-beta'];
const main = '2.0';
const folderOf = (version: string) => (version === main ? '' : `${version}/`);
const pages = versions.flatMap((version) => [
  ...Array.from({ length: 8 }, (_, at) =>
    buildPage({
      path: `${folderOf(version)}rollout/step-${at}`,
      order: at,
      metadata: { title: `Step ${at} of a rollout`, version },
      content: `## Canary rollout\n\nStep ${at}: shift ${at} percent of the traffic, then wait.`,
    }),
  ),
  buildPage({
    path: `${folderOf(version)}install`,
    order: 9,
    metadata: { title: 'Install', version },
    content: `Install the operator of ${version === '1.0' ? 'the legacy gearbox' : 'the cluster'}.`,
  }),
]);
const notes = ['v1.0', 'v1.1'].map((version, at) =>
  buildPage({ path: `blog/${at}`, metadata: { title: `Release ${version}` }, content: 'What is new.' }),
);
const index = indexOf(temporaryDirectory(), [...pages, ...notes]);
const found = (query: string, request = {}) =>
  index.search({ query, limit: 5, ...request }).map(({ path, metadata }) => `${metadata.version ?? '-'} ${path}`);

it('finds the passages of the main version before their copies in others', () => {
  for (const query of ['canary rollout', 'shift traffic', 'rollout step'])
    expect(new Set(found(query).map((hit) => hit.split(' ')[0]))).toEqual(new Set([main]));
});

it('prefers the version of the reader’s page, and the one that the question names', () => {
  expect(found('install the operator', { currentPath: '1.1/rollout/step-3' })[0]).toBe('1.1 1.1/install');
  for (const query of ['install the operator 1.0', 'How do I install the operator in v1.0?'])
    expect(found(query)[0]).toBe('1.0 1.0/install');
  expect(index.search({ query: 'install the operator v1.0', limit: 1 })[0]?.score).toBeGreaterThan(index.weakScore);
});

it('finds what only another version has, and under a filter only its own', () => {
  expect(found('legacy gearbox')[0]).toBe('1.0 1.0/install');
  expect(found('canary rollout', { filter: { version: '1.1' } }).every((hit) => hit.startsWith('1.1 '))).toBe(true);
});

it('finds a version written with or without v', () => {
  expect(found('release 1.1')[0]).toBe('- blog/1');
});

it('takes the first version of the navigation for the main one if each has a folder', () => {
  const inFolders = ['b', 'a', 'c'].map((version, order) =>
    buildPage({ path: `${version}/page`, order, metadata: { title: 'Kettle', version }, content: 'Boil water.' }),
  );
  using own = indexOf(temporaryDirectory(), inFolders);
  expect(own.search({ query: 'kettle', limit: 3 }).map(({ path }) => path)).toEqual(['b/page', 'a/page', 'c/page']);
});
