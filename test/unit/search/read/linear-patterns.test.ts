import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

const length = 200_000;
const maxCpuMs = 1_000;
const sphinx = { 'conf.py': '', 'index.rst': 'x\n=\n', 'part.py': 'x\n' };

/** Texts in which a part is repeated until an expression that reads it from each of its characters on takes minutes. */
it.each<[name: string, path: string, start: string, unit: string, end: string, files: Record<string, string>]>([
  ['blanks in a heading of MyST', 'a.md', '# a', '\t', 'x', sphinx],
  ['blanks in a signature', 'a.rst', '.. confval:: a', '\t', 'x', sphinx],
  ['blanks in an option', 'a.rst', '.. rst:directive:option:: a', '\t', 'x', sphinx],
  ['dots in a function of C', 'a.rst', '.. c:function:: a', '.', '-', sphinx],
  ['blanks in a list of lines', 'a.rst', '.. literalinclude:: part.py\n   :lines: 1', ' ', 'x', sphinx],
  ['lists without an end', 'conf.py', '', 'exclude_patterns=[', '', sphinx],
  ['folders without an end', 'conf.py', '', 'locale_dirs=[\n', '', sphinx],
  ['blanks in a heading of MkDocs', 'docs/a.md', '# a', ' ', 'x', { 'mkdocs.yml': 'site_name: x\n' }],
  ['blanks in a section of GitBook', 'SUMMARY.md', '## a', ' ', 'x', { 'a.md': 'x', '.gitbook.yaml': 'root: ./' }],
])('%s take little time', async (_name, path, start, unit, end, files) => {
  const text = start + unit.repeat(length / unit.length) + end;
  const given = Object.entries({ ...files, [path]: text }).map(([name, content]) => fileOf(name, content));
  const before = process.cpuUsage();
  await readPages(given);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(maxCpuMs);
});
