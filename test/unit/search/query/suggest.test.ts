import { describe, expect, it } from 'vitest';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** Text that is long enough for its section to be a passage of its own. */
const text = 'It takes a while to explain what this is good for. '.repeat(30);
const index = indexOf(temporaryDirectory(), [
  buildPage({
    path: 'guides/install',
    metadata: { title: 'Installation', version: 'v2' },
    content: `# Installation\n\n${text}\n\n## Configure the retries\n\n${text}\n\n### Delay\n\n${text}\n`,
  }),
  buildPage({
    path: 'guides/retries',
    metadata: { title: 'Retries of requests' },
    content: `${text}\n\n## \`retryLimit\` in settings.json\n\n${text}\n\n## Installing with retries\n\n${text}\n`,
  }),
  buildPage({ path: 'guides/policy', metadata: { title: 'Policy of keys' }, content: `Set \`policyName\`. ${text}` }),
  buildPage({ path: 'api/policy', metadata: { title: 'policyName' }, content: text }),
  buildPage({ path: 'zh', metadata: { title: '安装指南' }, content: '如何安装文档服务。\n' }),
  buildPage({ path: 'hidden', isHidden: true, metadata: { title: 'Retries, hidden' }, content: 'No.' }),
]);
const suggest = (query: string, limit = 6) =>
  index.suggest({ query, limit }).map(({ path, heading }) => (heading === null ? path : `${path}: ${heading}`));

describe('suggest', () => {
  it.each<[string, string[]]>([
    ['inst', ['guides/install', 'guides/retries: Installing with retries']],
    ['installi', ['guides/install', 'guides/retries: Installing with retries']],
    ['INSTALLATION', ['guides/install', 'guides/retries: Installing with retries']],
    ['how do I configure the ret', ['guides/install: Configure the retries']],
    ['retries inst', ['guides/install: Configure the retries', 'guides/retries: Installing with retries']],
    ['retrylim', ['guides/retries: retryLimit in settings.json']],
    ['requests the', ['guides/retries']],
    ['policy', ['api/policy', 'guides/policy']],
    ['policy of', ['guides/policy']],
    ['安装', ['zh']],
    ['r', []],
    ['', []],
    ['  ', []],
    ['the', ['guides/install: Configure the retries']],
    ['nothing like it', []],
    ['" OR "x', []],
    ['ret*', []],
  ])('finds for %j the pages and sections %j', (query, expected) => {
    expect(suggest(query)).toEqual(expected);
  });

  it('returns at most as many as asked for, within the filter, with their anchors', () => {
    expect(suggest('ret', 1)).toEqual(['guides/retries']);
    const found = index.suggest({ query: 'conf', limit: 6, filter: { version: 'v2' } });
    expect(found).toEqual([
      {
        path: 'guides/install',
        title: 'Installation',
        heading: 'Configure the retries',
        anchor: 'configure-the-retries',
      },
    ]);
    expect(index.suggest({ query: 'retries', limit: 6, filter: { version: 'v3' } })).toEqual([]);
  });

  it('reads any text, and returns only what the index contains', () => {
    for (const query of [
      '"',
      "'",
      ')',
      'NEAR(a b)',
      '{title} : x',
      'a AND',
      '\0ret',
      '\ud800',
      'x'.repeat(5_000),
      '^re*',
    ])
      expect(Array.isArray(suggest(query))).toBe(true);
  });
});

describe('pages in other languages and versions', () => {
  const pages = [
    { path: 'a/page', language: 'fr', version: '1' },
    { path: 'a/old', version: '1' },
    { path: 'b/page', version: '2', order: 0 },
    { path: 'c/page' },
  ];
  const several = indexOf(
    temporaryDirectory(),
    pages.map(({ path, order = 1, language, version }) =>
      buildPage({ path, order, content: text, metadata: { title: 'Kettles', ...(language && { language }), version } }),
    ),
  );
  const found = (limit: number, filter = {}) =>
    several.suggest({ query: 'kett', limit, filter }).map(({ path }) => path);

  it('are suggested after those in the main ones', () => {
    expect(found(9)).toEqual(['b/page', 'c/page', 'a/old', 'a/page']);
    expect(found(9, { version: '1' })).toEqual(['a/old', 'a/page']);
    expect(found(9, { language: 'fr' })).toEqual(['a/page']);
  });
});

it('suggests first what says little else, and every page whose title matches', () => {
  using many = indexOf(temporaryDirectory(), [
    ...Array.from({ length: 30 }, (_, at) =>
      buildPage({
        path: `a${String(at).padStart(2, '0')}`,
        metadata: { title: `Kettles of kind ${at}` },
        content: Array.from({ length: 10 }, (_, part) => `## Part ${part}\n\n${text}\n`).join('\n'),
      }),
    ),
    buildPage({ path: 'kettles', metadata: { title: 'Kettles' }, content: text }),
  ]);
  const paths = many.suggest({ query: 'kettles', limit: 50 }).map(({ path }) => path);
  expect(paths[0]).toBe('kettles');
  expect(new Set(paths).size).toBe(31);
});
