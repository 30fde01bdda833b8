import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildIndexInThread } from '../../../activities/sites/index-build.ts';
import { openSiteIndex } from '../../../search/query/site-index.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('reads files in UTF-8 and UTF-16, with their byte order marks', async () => {
  const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
  const contents = {
    'plain.md': Buffer.from('# Größe\n'),
    'marked.md': Buffer.from('\uFEFF---\ntitle: Maß\n---\n'),
    'little.md': utf16('---\r\ntitle: Straße\r\n---\r\n'),
    'big.html': utf16('<html><body><main><h1>Fuß</h1></main></body></html>').swap16(),
    'empty.md': Buffer.alloc(0),
  };
  const file = join(temporaryDirectory(), 'index.sqlite');
  await buildIndexInThread({
    file,
    files: Object.entries(contents).map(([path, content]) => ({ path, name: path, content, part: 0 })),
    parts: [{ prefix: '', weight: 1, isKept: false, isParsed: false, isWithdrawn: false }],
    readIncluded: async () => [],
    signal: new AbortController().signal,
  });
  using index = openSiteIndex(file);
  const pages = index.as('all').pages({ from: 0, limit: 10 });
  expect(Object.fromEntries(pages.map(({ path, metadata }) => [path, metadata.title]))).toEqual({
    plain: 'Größe',
    marked: 'Maß',
    little: 'Straße',
    big: 'Fuß',
    empty: 'Empty',
  });
});
