import { describe, expect, it, vi } from 'vitest';
import type { SearchFilter } from '../../../../search/query/search-request.ts';
import { buildPage, indexOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { anyCharacter, fc, propertyRuns } from '../../../support/properties.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = temporaryDirectory();

describe('search', () => {
  const index = indexOf(folder, [
    buildPage({
      path: 'orgs',
      metadata: { title: 'Organizations' },
      content:
        '# Organizations\n\nCall `createOrganization` to make one.\n\n## Deleting\n\nThey can be deleted with `--force-delete`.\n',
    }),
    buildPage({
      path: 'limits',
      metadata: { title: 'Rate limits' },
      content: 'A hundred requests an hour. The variable `max_requests_per_hour` says how many.\n',
    }),
    buildPage({
      path: 'install',
      metadata: { title: 'Installation' },
      content: 'Run the installer. An organization is not needed.\n',
    }),
    buildPage({ path: 'zh', metadata: { title: '安装指南' }, content: '如何安装文档服务。\n' }),
    buildPage({
      path: 'secret',
      isHidden: true,
      metadata: { title: 'Secret' },
      content: 'The launch codeword is xylophone. createOrganization\n',
    }),
  ]);
  const first = (query: string) => index.search({ query, limit: 3 })[0]?.path;

  it.each([
    ['createOrganization', 'orgs'],
    ['create organization', 'orgs'],
    ['create_organization', 'orgs'],
    ['--force-delete', 'orgs'],
    ['how do I remove organizations?', 'orgs'],
    ['requests per hour', 'limits'],
    ['max_requests_per_hour', 'limits'],
    ['MAX_REQUESTS', 'limits'],
    ['installing', 'install'],
    ['安装文档', 'zh'],
  ])('finds %j in %s', (query, path) => {
    expect(first(query)).toBe(path);
  });

  it('returns the passage with its headings, anchor and metadata', () => {
    const [hit] = index.search({ query: 'force delete', limit: 1 });
    expect(hit).toMatchObject({
      path: 'orgs',
      anchor: 'deleting',
      title: 'Organizations',
      headings: ['Deleting'],
      content: 'They can be deleted with `--force-delete`.',
    });
    expect(hit?.score).toBeGreaterThan(0);
    expect(hit?.score).toBeLessThanOrEqual(1);
  });

  it('returns nothing for an empty query', () => {
    for (const query of ['', '   ', '?!', 'xylophone', '"', '\u0000'])
      expect(index.search({ query, limit: 5 })).toEqual([]);
  });

  it('scores full coverage above partial coverage', () => {
    const best = (query: string) => index.search({ query, limit: 1 })[0]?.score ?? 0;
    expect(best('rate limits per hour')).toBeGreaterThan(best('rate of exchange in euro today'));
  });

  it('never shows a hidden page', () => {
    expect(index.page('secret')).toBeNull();
    expect(index.hasLink('secret', null)).toBe(false);
    expect(index.pages({ from: 0, limit: 1_000 }).map(({ path }) => path)).not.toContain('secret');
    expect(index.search({ query: 'createOrganization', limit: 50 }).map(({ path }) => path)).not.toContain('secret');
  });

  it('answers any query within its limit', () => {
    const words = fc.constantFrom(
      'organization',
      'NEAR(',
      'AND',
      'OR',
      'NOT',
      '"',
      '*',
      '^',
      '{title}:',
      'createOrganization',
      '--force',
      '安装',
      '-',
      ':',
      '((',
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(words, fc.string({ unit: anyCharacter, maxLength: 12 })), { maxLength: 30 }),
        fc.integer({ min: 0, max: 50 }),
        (parts, limit) => {
          const hits = index.search({
            query: parts.join(' '),
            limit,
            currentPath: parts[0],
            hints: parts.slice(1),
            referred: parts,
          });
          expect(hits.length).toBeLessThanOrEqual(limit);
          expect(hits.every(({ score }) => score >= 0 && score <= 1)).toBe(true);
        },
      ),
      { numRuns: propertyRuns(100) },
    );
  });
});

describe('the reader’s current page', () => {
  const text = 'Set the timeout of a request in seconds.';
  const index = indexOf(folder, [
    buildPage({ path: 'http/client', metadata: { title: 'Client' }, content: `## Timeout\n\n${text}` }),
    buildPage({ path: 'http/server', metadata: { title: 'Server' }, content: `## Timeout\n\n${text}` }),
    buildPage({ path: 'grpc/zeta', metadata: { title: 'Stub' }, content: `## Timeout\n\n${text}` }),
  ]);
  const order = (request: { currentPath?: string; hints?: string[] }) =>
    index.search({ query: 'timeout', limit: 3, ...request }).map(({ path }) => path);

  it('comes first, then its neighbors', () => {
    expect(order({ currentPath: '/grpc/zeta#timeout' })[0]).toBe('grpc/zeta');
    expect(order({ currentPath: 'http/other' })).toEqual(['http/client', 'http/server', 'grpc/zeta']);
  });

  it('is preferred by hints, less than by the query', () => {
    expect(order({ hints: ['server'] })[0]).toBe('http/server');
    expect(index.search({ query: 'client timeout', limit: 1, hints: ['server server'] })[0]?.path).toBe('http/client');
  });

  it('is raised by its boost', () => {
    const boosted = indexOf(folder, [
      buildPage({ path: 'a', content: text }),
      buildPage({ path: 'b', content: text, boost: 3 }),
    ]);
    expect(boosted.search({ query: 'timeout', limit: 2 }).map(({ path }) => path)).toEqual(['b', 'a']);
  });
});

describe('a filter', () => {
  const content = 'How to configure the widget.';
  const index = indexOf(folder, [
    buildPage({ path: 'plain', content }),
    buildPage({
      path: 'en',
      content,
      metadata: { language: 'en', version: 'v1', tags: ['a', 'b'], groups: ['staff'] },
    }),
    buildPage({ path: 'fr', content, metadata: { language: 'fr', version: 'v2', tags: ['b'] } }),
  ]);
  const found = (filter: SearchFilter | null) =>
    index
      .search({ query: 'configure widget', limit: 10, filter })
      .map(({ path }) => path)
      .sort();

  it.each<[SearchFilter | null, string[]]>([
    [null, ['en', 'fr', 'plain']],
    [{}, ['en', 'fr', 'plain']],
    [{ language: 'en' }, ['en', 'plain']],
    [{ language: 'FR' }, ['fr']],
    [{ language: 'de' }, []],
    [{ language: '' }, []],
    [{ version: 'v1' }, ['en']],
    [{ version: 'v9' }, []],
    [{ tag: 'b' }, ['en', 'fr']],
    [{ groups: ['staff', 'other'] }, ['en']],
    [{ groups: ['other'] }, []],
    [{ language: 'fr', tag: 'a' }, []],
    [{ version: '") OR ("' }, []],
  ])('%j gives %j', (filter, expected) => {
    expect(found(filter)).toEqual(expected);
  });
});

describe('a site in several languages', () => {
  const index = indexOf(folder, [
    buildPage({ path: 'start', order: 0, content: 'Welcome.', metadata: { language: 'en' } }),
    ...['fr', 'es', 'en'].map((language) =>
      buildPage({
        path: `${language}/card`,
        content: 'The `CardGroup` of a page.',
        metadata: { title: 'Card', language },
      }),
    ),
    buildPage({
      path: 'fr/carte',
      content: 'Comment modifier une carte.',
      metadata: { title: 'Carte', language: 'fr' },
    }),
  ]);
  const first = (query: string, request: { currentPath?: string; filter?: SearchFilter } = {}) =>
    index.search({ query, limit: 1, ...request })[0]?.path;

  it('answers in its main language', () => {
    expect(first('CardGroup')).toBe('en/card');
  });

  it('answers in the language of the reader’s current page', () => {
    expect(first('CardGroup', { currentPath: '/fr/carte' })).toBe('fr/card');
    expect(first('CardGroup', { currentPath: '/unknown' })).toBe('en/card');
  });

  it('answers in the language of the question and of the filter', () => {
    expect(first('Comment modifier une carte ?')).toBe('fr/carte');
    expect(first('CardGroup', { filter: { language: 'es' } })).toBe('es/card');
  });
});

it('ranks a passage first if its heading matches the question', () => {
  using index = indexOf(folder, [
    buildPage({
      path: 'scenes',
      content:
        '# Scenes\n\nLight for an evening.\n\n## Run a scene\n\n```bash\nlamp scene run evening --fade 2s\n```\n',
      metadata: { title: 'Scenes' },
    }),
    buildPage({
      path: 'schedules',
      content: '# Schedules\n\nA schedule runs a scene at a time of day:\n\n```bash\nlamp schedule add evening\n```\n',
      metadata: { title: 'Schedules', description: 'Run scenes at a time of day.' },
    }),
  ]);
  const anchors = (query: string) => index.search({ query, limit: 1 }).map((hit) => hit.anchor);
  expect(anchors('How do I run a scene?')).toEqual(['run-a-scene']);
  expect(anchors('How do I run a scene at a time of day?')).toEqual([null]);
});

it('scores a question about a name lower if the name is missing', () => {
  const index = indexOf(folder, [buildPage({ content: 'Install the database server on your machine.' })]);
  const score = (query: string) => index.search({ query, limit: 1 })[0]?.score ?? 0;
  expect(score('install the server on Debian')).toBeLessThan(score('install the server on debian'));
});

describe('a page', () => {
  const index = indexOf(folder, [
    buildPage({ path: 'index', content: 'Home', order: 1, metadata: { title: 'Home' } }),
    buildPage({
      path: 'guides/index',
      content: '## Überblick & mehr\n\nx\n\n<a id="own"></a>\n',
      order: 0,
      metadata: { title: 'Guides' },
    }),
    buildPage({ path: 'zz', content: 'x'.repeat(5000), metadata: { title: 'Last' } }),
  ]);

  it.each(['guides', '/guides/', 'guides/index.mdx', '/guides/index#x', 'guides?tab=1', './guides'])(
    'is found as %s',
    (path) => {
      expect(index.page(path)?.path).toBe('guides/index');
    },
  );

  it('is null if it is unknown', () => {
    expect(index.page('guides/none')).toBeNull();
    expect(index.page('../../etc/passwd')).toBeNull();
  });

  it('is the root page for an empty path', () => {
    expect(index.page('/')?.content).toBe('Home');
  });

  it('has links to its headings and ids', () => {
    expect(index.hasLink('/guides', 'überblick--mehr')).toBe(true);
    expect(index.hasLink('/guides', '#own')).toBe(true);
    expect(index.hasLink('/guides', null)).toBe(true);
    expect(index.hasLink('/guides', 'other')).toBe(false);
    expect(index.hasLink('/none', null)).toBe(false);
  });

  it('follows the order of the navigation', () => {
    const listed = (range: { from: number; limit: number }) =>
      index.pages(range).map(({ position, path, metadata }) => [position, path, metadata.title]);
    const pages = [
      [0, 'guides/index', 'Guides'],
      [1, 'index', 'Home'],
      [2, 'zz', 'Last'],
    ];
    expect(listed({ from: 0, limit: 3 })).toEqual(pages);
    expect(listed({ from: 1, limit: 1 })).toEqual([pages[1]]);
  });
});
