import { expect, it } from 'vitest';
import { collectPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

it('reports files that are too large, and those whose page another file has', async () => {
  const large = { isTooLarge: true as const };
  const files = [
    { ...fileOf('.hidden/large.md', ''), ...large },
    { ...fileOf('conf.py', ''), ...large },
    { ...fileOf('large.md', ''), ...large },
    fileOf('page.md', '# Page\n'),
    fileOf('page.rst', 'Page\n====\n'),
    fileOf('page.html', '<html><body><main><h1>Page</h1><p>Text.</p></main></body></html>'),
  ];
  const { pages, layout, report } = await collectPages<never>(files, { find: () => null });
  expect(pages.map(({ path }) => path)).toEqual(['page']);
  expect(layout.name).toBe(null);
  // HTML may be generated from the others
  expect(report.skipped).toEqual([
    'conf.py (larger than 10 MB)',
    'large.md (larger than 10 MB)',
    'page.rst (same page as page.md)',
  ]);
});
