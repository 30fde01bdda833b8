import { chmod, stat, writeFile } from 'node:fs/promises';
import { expect, it, vi } from 'vitest';
import { etagOf } from '../../../activities/tools/edit/text-file.ts';
import type { ToolContext } from '../../../activities/tools/agent-tool.ts';
import { runBatch } from '../../../activities/tools/run-batch.ts';
import { createRunTool } from '../../../activities/tools/run-tool.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import type { ToolCall } from '../../../db/for-worker/steps.ts';
import { createTree } from './tree.ts';

// slow or busy machines need more time
vi.setConfig({ testTimeout: 60_000 });

it('returns the match, the new etag and the resulting lines', async () => {
  await using tree = await createTree({ 'src/a.ts': 'one\ntwo\nthree\nfour\nfive\n' });
  const output = await tree.run('edit', { path: 'src/a.ts', old: 'three', new: 'THREE\n3' });
  const etag = etagOf(await tree.bytes('src/a.ts'));
  expect(output).toEqual({
    isError: false,
    text: `Edited src/a.ts: 1 region at line 3 (match: exact). etag ${etag}\n     1|one\n     2|two\n     3|THREE\n     4|3\n     5|four\n     6|five`,
  });
});

const utf16 = {
  le: (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  be: (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
};

it.each(['le', 'be'] as const)('reads, finds and writes UTF-16 %s as UTF-16', async (order) => {
  const encoded = utf16[order];
  await using tree = await createTree({ 'a.rc': encoded('eins „zwei“\r\ndrei\r\n') });
  expect((await tree.run('read', { path: 'a.rc' })).text).toMatch(
    /^a\.rc \(2 lines, 40 B, etag [0-9a-f]{40}, CRLF line endings, byte order mark, UTF-16\)\n {5}1\|eins „zwei“\n {5}2\|drei$/,
  );
  expect((await tree.run('grep', { pattern: 'dr.i$' })).text).toBe('a.rc:2: drei');
  await tree.run('edit', { path: 'a.rc', old: 'drei\n', new: 'drei\nvier ✓\n' });
  expect(await tree.bytes('a.rc')).toEqual(encoded('eins „zwei“\r\ndrei\r\nvier ✓\r\n'));
  await tree.run('write', { path: 'a.rc', content: 'fünf\nsechs\n' });
  expect(await tree.bytes('a.rc')).toEqual(encoded('fünf\r\nsechs\r\n'));
});

it('takes what only looks like UTF-16 for binary', async () => {
  const odd = Buffer.concat([utf16.le('a'), Buffer.from('b')]);
  await using tree = await createTree({ odd, 'utf-32': Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]) });
  for (const path of ['odd', 'utf-32']) {
    expect(await tree.run('read', { path })).toMatchObject({ isError: true, text: expect.stringContaining('binary') });
  }
});

it('keeps the encoding of a file that is written anew, or says that it cannot', async () => {
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  await using tree = await createTree({ 'a.txt': latin1('Caf\xe9\n'), 'b.txt': latin1('Caf\xe9\n') });
  expect((await tree.run('write', { path: 'a.txt', content: 'Th\xe9\n' })).text).not.toContain('UTF-8');
  expect(await tree.bytes('a.txt')).toEqual(latin1('Th\xe9\n'));
  expect((await tree.run('write', { path: 'b.txt', content: 'Caf\xe9 5 €\n' })).text).toContain(
    'The file was not UTF-8 and could not hold "€"; it is UTF-8 now.',
  );
  expect(await tree.text('b.txt')).toBe('Caf\xe9 5 €\n');
});

it('keeps the final newline of a file that is written anew', async () => {
  await using tree = await createTree({ 'a.txt': 'a\r\n', 'b.txt': 'a', 'c.txt': 'a\n' });
  const written = async (path: string, content: string) => {
    await tree.run('write', { path, content });
    return tree.text(path);
  };
  expect(await written('a.txt', 'b\nc')).toBe('b\r\nc\r\n');
  expect(await written('b.txt', 'b')).toBe('b');
  expect(await written('c.txt', '')).toBe('');
  expect(await written('new.txt', 'b')).toBe('b');
});

it('lets the calls of one answer change a file one after another under the etag that it had before', async () => {
  await using tree = await createTree({ 'a.txt': 'one\ntwo\nthree\n' });
  const etag = /etag ([0-9a-f]{40})/.exec((await tree.run('read', { path: 'a.txt' })).text)?.[1];
  const signal = new AbortController().signal;
  const edit = (old: string, replacement: string) => ({
    toolCallId: old,
    toolName: 'edit',
    input: { path: 'a.txt', old, new: replacement, etag },
  });
  const isErrorOf = async (calls: ToolCall[], context: Partial<ToolContext> = {}) =>
    (
      await runBatch(createToolset({ run: createRunTool({ maxSeconds: 60 }) }), calls, {
        root: tree.root,
        signal,
        ...context,
      })
    ).map(({ isError }) => isError);
  expect(await isErrorOf([edit('one', '1'), edit('two', '2')])).toEqual([false, false]);
  expect(await tree.text('a.txt')).toBe('1\n2\nthree\n');
  expect(await isErrorOf([edit('three', '3')])).toEqual([true]);

  await writeFile(tree.path('a.txt'), 'one\ntwo\nthree\n');
  const runCommand = async () => {
    await writeFile(tree.path('a.txt'), '1\ntwo\nchanged\n');
    const output = { head: Buffer.alloc(0), tail: Buffer.alloc(0), omitted: 0 };
    return { exitCode: 0, stopped: null, durationMs: 1, notes: [], output };
  };
  const command = { toolCallId: 'run', toolName: 'run', input: { command: 'make' } };
  expect(await isErrorOf([edit('one', '1'), command, edit('two', '2')], { runCommand })).toEqual([false, false, true]);
});

it('says when a file that is written anew gets other line endings', async () => {
  await using tree = await createTree({ 'mixed.txt': 'a\r\nb\nc\r\n', 'unix.txt': 'a\nb\n', 'dos.txt': 'a\r\n' });
  const written = async (path: string, content: string) => (await tree.run('write', { path, content })).text;
  expect(await written('mixed.txt', 'a\nb\nc\nd\n')).toContain(
    'Its line endings were mixed LF and CRLF and are LF now.',
  );
  expect(await written('unix.txt', 'a\r\nb\r\n')).toContain('Its line endings were LF and are CRLF now.');
  expect(await written('dos.txt', 'a\nb\n')).not.toContain('line endings');
});

it('keeps the byte order mark, the line endings and the mode bits', async () => {
  await using tree = await createTree({ 'run.sh': '\ufeffa\r\nb\r\nc' });
  await chmod(tree.path('run.sh'), 0o751);
  expect((await tree.run('edit', { path: 'run.sh', old: 'a\nb', new: 'a\nx\nb' })).text).toContain(
    '(match: line endings)',
  );
  expect(await tree.text('run.sh')).toBe('\ufeffa\r\nx\r\nb\r\nc');
  expect((await tree.run('write', { path: 'run.sh', content: 'p\nq\n' })).text).toContain('Replaced run.sh (2 lines');
  expect(await tree.text('run.sh')).toBe('\ufeffp\r\nq\r\n');
  expect((await stat(tree.path('run.sh'))).mode & 0o7777).toBe(0o751);
});

it('changes only the requested bytes in a file that is not UTF-8', async () => {
  const bytes = Buffer.from('caf\xe9 \x93x\x94 one\n', 'latin1');
  await using tree = await createTree({ 'old.txt': bytes });
  expect((await tree.run('read', { path: 'old.txt' })).text).toContain('not UTF-8, shown as Latin-1');
  await tree.run('edit', { path: 'old.txt', old: 'café', new: 'Café' });
  await tree.run('edit', { path: 'old.txt', old: 'one', new: 'two' });
  expect(await tree.bytes('old.txt')).toEqual(Buffer.from('Caf\xe9 \x93x\x94 two\n', 'latin1'));
  expect(await tree.run('edit', { path: 'old.txt', old: 'two', new: 'zwölf' })).toMatchObject({ isError: true });
});

it('refuses to change a pointer of Git LFS', async () => {
  const content = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`;
  await using tree = await createTree({ 'logo.svg': content });
  const calls = [
    ['edit', { path: 'logo.svg', old: 'size 12', new: 'size 13' }],
    ['write', { path: 'logo.svg', content: '<svg/>\n' }],
  ] as const;
  for (const [tool, input] of calls)
    expect(await tree.run(tool, input)).toMatchObject({ isError: true, text: expect.stringContaining('Git LFS') });
  expect(await tree.text('logo.svg')).toBe(content);
});

it('refuses binary and missing files', async () => {
  await using tree = await createTree({ 'a.bin': new Uint8Array([1, 0, 2]) });
  expect(await tree.run('edit', { path: 'a.bin', old: 'a', new: 'b' })).toMatchObject({ isError: true });
  expect((await tree.run('edit', { path: 'x/b.txt', old: 'a', new: 'b' })).text).toContain('does not exist');
});

it('refuses a change when the file is no longer the one that was read', async () => {
  await using tree = await createTree({ 'a.txt': 'one\n' });
  const etag = /etag ([0-9a-f]{40})/.exec((await tree.run('read', { path: 'a.txt' })).text)?.[1];
  expect(etag).toBe('5626abf0f72e58d7a153368ba57db4c673c0e171');
  expect((await tree.run('edit', { path: 'a.txt', old: 'one', new: 'two', etag })).isError).toBe(false);
  expect(await tree.run('edit', { path: 'a.txt', old: 'two', new: 'three', etag })).toMatchObject({
    isError: true,
    text: 'a.txt has changed since it had that etag; read it again. Nothing was changed.',
  });
  expect((await tree.run('write', { path: 'a.txt', content: 'x', etag })).isError).toBe(true);
  expect((await tree.run('write', { path: 'new.txt', content: 'x', etag })).isError).toBe(true);
  expect(await tree.text('a.txt')).toBe('two\n');
});

it('shows the nearest regions with their tabs if old is not found', async () => {
  const filler = Array.from({ length: 50 }, (_, at) => `line number ${at}`).join('\n');
  await using tree = await createTree({
    'a.ts': `${filler}\n\tconst total = sum(prices);\n\treturn total\u00a0* 2;\n${filler}\n`,
  });
  const { text, isError } = await tree.run('edit', {
    path: 'a.ts',
    old: 'const total = sum(values);\nreturn total;',
    new: 'x',
  });
  expect(isError).toBe(true);
  expect(text).toContain('old was not found in a.ts.');
  expect(text).toContain('    51|→\tconst total = sum(prices);\n    52|→\treturn total<U+00A0>* 2;');
  const applied = await tree.run('edit', { path: 'a.ts', old: 'not there', new: 'sum(prices)' });
  expect(applied.text).toContain('new is at line 51: the edit seems to be applied already');
});

it('lists every match if old occurs more than once', async () => {
  await using tree = await createTree({ 'a.txt': 'x\n'.repeat(100) });
  const { text } = await tree.run('edit', { path: 'a.txt', old: 'x', new: 'y' });
  expect(text).toContain('old occurs at 100 places in a.txt (lines 1, 2, 3,');
  expect(text).toContain('or set replaceAll');
  expect((await tree.run('edit', { path: 'a.txt', old: 'x', new: 'y', replaceAll: true })).text).toContain(
    '100 regions',
  );
  expect(await tree.text('a.txt')).toBe('y\n'.repeat(100));
});

it('applies all edits of a multi_edit or none', async () => {
  await using tree = await createTree({ 'a.txt': 'one\ntwo\nthree\n' });
  const failed = await tree.run('multi_edit', {
    path: 'a.txt',
    edits: [
      { old: 'one', new: '1' },
      { old: 'absent', new: 'x' },
      { old: 'three', new: '3' },
    ],
  });
  expect(failed.isError).toBe(true);
  expect(failed.text).toContain(
    'Nothing was changed: edit 2 of 3 failed (edit 1 fits 1 region at line 1 (match: exact)).',
  );
  expect(await tree.text('a.txt')).toBe('one\ntwo\nthree\n');
  const done = await tree.run('multi_edit', {
    path: 'a.txt',
    edits: [
      { old: 'one', new: 'eins' },
      { old: 'eins\ntwo', new: '12' },
    ],
  });
  expect(done.text).toContain('1. 1 region at line 1 (match: exact)\n2. 1 region at line 1 (match: exact)');
  expect(await tree.text('a.txt')).toBe('12\nthree\n');
});

it('creates new files with their folders and leaves no partial file behind', async () => {
  await using tree = await createTree();
  expect((await tree.run('write', { path: 'a/b/c.txt', content: 'x\ny\n' })).text).toMatch(
    /^Created a\/b\/c\.txt \(2 lines, etag \w{40}\)\.$/,
  );
  expect((await tree.run('write', { path: 'a/b/c.txt', content: 'x\ny\n' })).text).toContain('nothing was changed');
  expect((await tree.run('write', { path: 'a/b', content: 'x' })).isError).toBe(true);
  expect((await tree.run('write', { path: 'a/b/c.txt/d', content: 'x' })).isError).toBe(true);
  expect((await tree.run('write', { path: 'nul.txt', content: 'a\0b' })).isError).toBe(true);
  expect((await tree.run('list', { depth: 5 })).text).toBe('a/\na/b/\na/b/c.txt  4 B');
});

it('warns when a change breaks a file that parsed', async () => {
  await using tree = await createTree({
    'a.json': '{"a": 1}\n',
    'tsconfig.json': '{ // comment\n "a": 1}\n',
    'b.yml': 'a: 1\n',
  });
  expect((await tree.run('edit', { path: 'a.json', old: '1}', new: '1' })).text).toContain('no longer parses');
  expect((await tree.run('edit', { path: 'tsconfig.json', old: '1', new: '2' })).text).not.toContain('parse');
  expect((await tree.run('edit', { path: 'b.yml', old: '1', new: '[1' })).text).toContain('no longer parses');
  expect((await tree.run('write', { path: 'deep.json', content: '['.repeat(100_000) })).isError).toBe(false);
  expect((await tree.run('write', { path: 'deep.yml', content: '['.repeat(20_000) })).isError).toBe(false);
});

it('moves only to unused paths', async () => {
  await using tree = await createTree({ 'a.txt': 'a', 'b.txt': 'b', 'd/x.txt': 'x' });
  expect((await tree.run('move', { from: 'a.txt', to: 'b.txt' })).text).toContain('already exists');
  expect((await tree.run('move', { from: 'd', to: 'd/e' })).text).toContain('into itself');
  expect((await tree.run('move', { from: 'a.txt', to: 'a.txt' })).isError).toBe(true);
  expect((await tree.run('move', { from: 'nope', to: 'c' })).text).toContain('does not exist');
  expect((await tree.run('move', { from: '.', to: 'c' })).isError).toBe(true);
  expect((await tree.run('move', { from: 'a.txt', to: 'new/a.txt' })).text).toBe('Moved a.txt to new/a.txt.');
  expect((await tree.run('move', { from: 'd', to: 'new/d' })).isError).toBe(false);
  expect(await tree.text('new/d/x.txt')).toBe('x');
  expect((await tree.run('delete', { path: 'nope' })).isError).toBe(true);
  expect((await tree.run('delete', { path: '.', recursive: true })).isError).toBe(true);
  expect((await tree.run('delete', { path: 'b.txt' })).text).toBe('Deleted b.txt.');
});
