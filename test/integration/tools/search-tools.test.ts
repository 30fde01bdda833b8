import picomatch from 'picomatch';
import { mkdir, symlink } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { compileGlob } from '../../../activities/tools/files/glob-pattern.ts';
import { createTree } from './tree.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

// slow or busy machines need more time
vi.setConfig({ testTimeout: 60_000 });

it('returns the path, the line and the text of each match', async () => {
  await using tree = await createTree({
    'b.ts': 'one\r\n\tfoo(bar);\r\n',
    'a/a.md': 'Foo\nfoo\n',
    'c.bin': new Uint8Array([102, 111, 111, 0]),
  });
  expect((await tree.run('grep', { pattern: 'foo' })).text).toBe('a/a.md:2: foo\nb.ts:2: \tfoo(bar);');
  expect((await tree.run('grep', { pattern: 'foo', ignoreCase: true, path: 'a' })).text).toBe(
    'a/a.md:1: Foo\na/a.md:2: foo',
  );
  expect((await tree.run('grep', { pattern: 'foo', path: 'b.ts' })).text).toBe('b.ts:2: \tfoo(bar);');
  expect((await tree.run('grep', { pattern: 'foo', glob: '*.md' })).text).toBe('a/a.md:2: foo');
  expect((await tree.run('grep', { pattern: 'foo', glob: '!*.md' })).text).toBe('b.ts:2: \tfoo(bar);');
  expect((await tree.run('grep', { pattern: 'foo(', literal: true })).text).toBe('b.ts:2: \tfoo(bar);');
  expect((await tree.run('grep', { pattern: '^one$' })).text).toBe('b.ts:1: one');
});

it('names what may have kept a pattern from matching', async () => {
  await using tree = await createTree({ 'a.ts': 'function main() {\n  run();\n}\n' });
  const noLine = async (input: unknown) => (await tree.run('grep', input)).text;
  expect(await noLine({ pattern: 'stop' })).toBe('No line matches stop.');
  expect(await noLine({ pattern: 'main() {' })).toBe(
    'No line matches main() {. The pattern is a regular expression; for plain text, set literal.',
  );
  expect(await noLine({ pattern: 'main() {', literal: true })).toContain('a.ts:1: function main() {');
  const within = 'A pattern matches within one line, so one with a line break finds nothing.';
  expect(await noLine({ pattern: 'main\\(\\) \\{\\r?\\n' })).toContain(within);
  expect(await noLine({ pattern: '{\n', literal: true })).toContain(within);
});

it('continues a search for matches after a file', async () => {
  const files = Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`f${10 + at}.txt`, 'hit\n'.repeat(12)]));
  await using tree = await createTree(files);
  const { text } = await tree.run('grep', { pattern: 'hit' });
  expect(text).toMatch(/the 100 matches shown; narrow the search\. Go on with after "f19\.txt"\.\]$/);
  const rest = (await tree.run('grep', { pattern: 'hit', after: 'f19.txt' })).text;
  expect(rest).toMatch(/^f20\.txt:1: hit\n/);
  expect(rest).toMatch(/f24\.txt: more matches in this file are not shown$/);
});

it('reports what is wrong with a pattern', async () => {
  await using tree = await createTree({ 'a.txt': 'a' });
  for (const pattern of ['foo(', '(?=a)', '(a)\\1', '[']) {
    const { text, isError } = await tree.run('grep', { pattern });
    expect(isError).toBe(true);
    expect(text).toContain('The pattern is not valid');
  }
  expect((await tree.run('grep', { pattern: 'a', path: 'nope' })).text).toContain('does not exist');
});

it('shows ten matches per file, a hundred in all, and 200 characters per line', async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`f${at}.txt`, 'hit\n'.repeat(12)]));
  await using tree = await createTree({ ...files, 'long.md': `${'x'.repeat(5_000)}needle${'y'.repeat(5_000)}\n` });
  const { text } = await tree.run('grep', { pattern: 'hit' });
  const lines = text.split('\n');
  expect(lines.filter((line) => /^f0\.txt:\d+: hit$/.test(line))).toHaveLength(10);
  expect(lines).toContain('f0.txt: more matches in this file are not shown');
  expect(lines.filter((line) => line.endsWith(' hit'))).toHaveLength(100);
  expect(lines.at(-1)).toContain('There are more than');
  const long = (await tree.run('grep', { pattern: 'needle' })).text;
  expect(long).toContain('xneedley');
  expect(long.length).toBeLessThan(250);
});

it('handles a pattern that other engines choke on', async () => {
  await using tree = await createTree({ 'a.txt': `${'a'.repeat(20_000)}\n` });
  expect((await tree.run('grep', { pattern: '^(a+)+$|(a|aa)+b|(.*a){20}c' })).text).toContain('a.txt:1: aaa');
  expect((await tree.run('grep', { pattern: '(a*)*b' })).text).toContain('No line matches');
});

it('stops when it is aborted', async () => {
  await using tree = await createTree({ 'a/b.txt': 'a\n'.repeat(500_000) });
  const reason = new Error('the job was cancelled');
  for (const [tool, input] of [
    ['grep', { pattern: 'zzz' }],
    ['glob', { pattern: '**' }],
    ['list', {}],
    ['read', { path: 'a/b.txt' }],
  ] as const) {
    await expect(tree.run(tool, input, { signal: AbortSignal.abort(reason) })).rejects.toThrow(reason);
  }
  const controller = new AbortController();
  const search = tree.run('grep', { pattern: 'zzz' }, { signal: controller.signal });
  setImmediate(() => controller.abort(reason));
  await expect(search).rejects.toThrow(reason);
});

it('lists sizes and depths, and reports when there is more', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1_100 }, (_, at) => [`many/${String(at).padStart(4, '0')}.txt`, '']),
  );
  await using tree = await createTree({ ...files, 'a/b/c.txt': 'x'.repeat(2_048) });
  await mkdir(tree.path('empty'));
  expect((await tree.run('list', {})).text).toBe('a/\nempty/\nmany/');
  expect((await tree.run('list', { path: 'a', depth: 2 })).text).toBe('a/b/\na/b/c.txt  2.0 KB');
  expect((await tree.run('list', { path: 'empty' })).text).toBe('empty is empty.');
  expect((await tree.run('list', { path: 'a/b/c.txt' })).isError).toBe(true);
  const many = (await tree.run('list', { path: 'many' })).text.split('\n');
  expect(many).toHaveLength(1_001);
  expect(many.at(-1)).toContain('There is more');
  expect((await tree.run('glob', { pattern: 'many/*.txt' })).text.split('\n')).toHaveLength(1_001);
});

it('names the paths that resemble one that does not exist', async () => {
  await using tree = await createTree({
    'src/utils.ts': '',
    'src/App.tsx': '',
    'src/index.ts': '',
    'src/pages/index.ts': '',
    'lib/pages/index.ts': '',
    'docs/guide/Install.md': '',
  });
  const meant = async (tool: string, input: unknown) => {
    const { text, isError } = await tree.run(tool, input);
    expect(isError).toBe(true);
    return text;
  };
  const readOf = (path: string) => meant('read', { path });
  expect(await readOf('src/util.ts')).toBe('src/util.ts does not exist. Did you mean src/utils.ts?');
  expect(await readOf('utils.ts')).toBe('utils.ts does not exist. Did you mean src/utils.ts?');
  expect(await readOf('src/app.jsx')).toBe('src/app.jsx does not exist. Did you mean src/App.tsx?');
  expect(await readOf('guide/install.md')).toBe('guide/install.md does not exist. Did you mean docs/guide/Install.md?');
  expect(await readOf('pages/index.ts')).toBe(
    'pages/index.ts does not exist. Did you mean lib/pages/index.ts or src/pages/index.ts?',
  );
  expect(await readOf('nothing/like/it.rs')).toBe(
    'nothing/like/it.rs does not exist. Use list or glob to see which files exist.',
  );
  expect(await meant('edit', { path: 'util.ts', old: 'a', new: 'b' })).toContain('Did you mean src/utils.ts?');
  expect(await meant('list', { path: 'doc' })).toBe('doc does not exist. Did you mean docs?');
  expect(await meant('delete', { path: 'utils.ts' })).toContain('Did you mean src/utils.ts?');
  expect(await meant('move', { from: 'utils.ts', to: 'a.ts' })).toContain('Did you mean src/utils.ts?');
});

it('names where a symbolic link leads', async () => {
  await using tree = await createTree({ 'docs/AGENTS.md': 'one\n' });
  await symlink('docs/AGENTS.md', tree.path('CLAUDE.md'));
  expect((await tree.run('list', {})).text).toBe('CLAUDE.md  (symbolic link to docs/AGENTS.md)\ndocs/');
  expect((await tree.run('edit', { path: 'CLAUDE.md', old: 'one', new: 'two' })).text).toBe(
    'CLAUDE.md is a symbolic link to docs/AGENTS.md, which this tool does not follow.',
  );
});

it('gives up on endlessly nested folders', async () => {
  await using tree = await createTree();
  const deep = Array.from({ length: 150 }, () => 'd').join('/');
  await mkdir(tree.path(deep), { recursive: true });
  expect((await tree.run('glob', { pattern: '*.txt' })).text).toContain('deeper than 100 levels');
  expect((await tree.run('write', { path: `${deep}/a.txt`, content: 'a' })).isError).toBe(false);
  expect((await tree.run('read', { path: `${deep}/a.txt` })).isError).toBe(false);
});

it.each([
  ['*.ts', 'a.ts', true],
  ['*.ts', 'deep/down/a.ts', true],
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/deep/a.ts', false],
  ['src/**', 'src/deep/a.ts', true],
  ['**/*.{md,mdx}', 'a.mdx', true],
  ['**/test-[0-9]?.js', 'x/test-12.js', true],
  ['**/test-[!0-9].js', 'test-1.js', false],
  ['./docs/**/*.md', 'docs/a.md', true],
  ['/docs/*.md', 'docs/a.md', true],
  ['.github/**', '.github/workflows/ci.yml', true],
  ['**', '.env', true],
  ['a(b).txt', 'a(b).txt', true],
  ['a+b$.txt', 'a+b$.txt', true],
  ['[x', '[x', true],
  ['{a,b', '{a,b', true],
  ['{a,{b,c}}.txt', 'c.txt', true],
  ['\\*.txt', 'a.txt', false],
  ['!*.ts', 'a.js', true],
  ['!*.ts', 'a.ts', false],
])('takes the glob %j on %j for %j', (glob, path, fits) => {
  expect(compileGlob(glob)(path)).toBe(fits);
});

it('interprets globs like picomatch', () => {
  const segment = fc.constantFrom(
    'a',
    'b*',
    '*',
    '*.md',
    '?',
    'a?',
    '[ab]',
    '[^a]*',
    '{a,b}',
    '{a,bc}.md',
    '**',
    '.x',
    'a.b',
  );
  const globs = fc.array(segment, { minLength: 2, maxLength: 4 }).map((segments) => segments.join('/'));
  const names = fc.constantFrom('a', 'b', 'bc', 'ab', 'a.md', 'bc.md', '.x', 'a.b', 'c');
  const paths = fc.array(names, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(globs, paths, (glob, path) => {
      // A folder itself does not match because of its contents.
      if (glob.endsWith('/**') && picomatch.isMatch(path, glob.slice(0, -3), { dot: true })) return;
      expect(compileGlob(glob)(path)).toBe(picomatch.isMatch(path, glob, { dot: true }));
    }),
    { numRuns: propertyRuns(1_500) },
  );
});

it('handles a glob that other engines choke on', () => {
  expect(compileGlob(`${'*a'.repeat(100)}b`)('a'.repeat(255))).toBe(false);
  expect(compileGlob(`${'{a,a}'.repeat(90)}b`)('a'.repeat(90))).toBe(false);
});
