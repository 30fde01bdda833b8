import { expect, it } from 'vitest';
import { maxOutputBytes } from '../../../activities/tools/tool-output.ts';
import { createTree } from './tree.ts';

it('numbers the lines below a heading that describes the file', async () => {
  await using tree = await createTree({ 'a.txt': '\ufeffone\r\n\ttwo\r\n', 'b.txt': 'x', 'c.txt': 'a\r\nb\n' });
  expect((await tree.run('read', { path: './a.txt' })).text).toBe(
    'a.txt (2 lines, 14 B, etag 9341389992b5fd6f2d73a9bb931dac3219387351, CRLF line endings, has tabs, byte order mark)\n     1|one\n     2|\ttwo',
  );
  expect((await tree.run('read', { path: 'b.txt' })).text).toContain('(1 line, 1 B, etag ');
  expect((await tree.run('read', { path: 'b.txt' })).text).toContain('no newline at the end)\n     1|x');
  expect((await tree.run('read', { path: 'c.txt' })).text).toContain('mixed LF and CRLF line endings');
});

it('shows a window and how to continue', async () => {
  await using tree = await createTree({
    'a.txt': Array.from({ length: 5_000 }, (_, at) => `line ${at + 1}\n`).join(''),
  });
  const first = (await tree.run('read', { path: 'a.txt' })).text.split('\n');
  expect(first).toHaveLength(2_002);
  expect(first.at(-1)).toBe('[3000 more lines; continue with offset 2001.]');
  const rest = (await tree.run('read', { path: 'a.txt', offset: 4_999, limit: 9_999 })).text.split('\n');
  expect(rest.slice(1)).toEqual(['  4999|line 4999', '  5000|line 5000']);
  expect((await tree.run('read', { path: 'a.txt', offset: 5_001 })).text).toContain('has only 5000 lines');
  expect((await tree.run('read', { path: 'a.txt', offset: 0 })).text).toContain('The input is invalid: offset');
});

it('never returns more than 50 KB, and splits no character', async () => {
  await using tree = await createTree({
    'wide.txt': `${'ä'.repeat(500)}\n`.repeat(200),
    'one.txt': `a${'😀'.repeat(100_000)}\nb\n`,
  });
  for (const path of ['wide.txt', 'one.txt']) {
    const { text } = await tree.run('read', { path });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxOutputBytes);
    expect(Buffer.byteLength(text)).toBeGreaterThan(maxOutputBytes * 0.9);
    expect(text).not.toContain('\ufffd');
  }
  expect((await tree.run('read', { path: 'one.txt' })).text).toMatch(
    /\[Line 1 is longer than one answer holds \(390\.6 KB\) and is cut here\. 1 more line; continue with offset 2\.\]$/,
  );
  expect((await tree.run('read', { path: 'one.txt', offset: 2 })).text).toContain('     2|b');
});

it('reports what it cannot show', async () => {
  await using tree = await createTree({ 'empty.txt': '', 'a.bin': new Uint8Array([0, 1]) });
  expect((await tree.run('read', { path: 'empty.txt' })).text).toContain('The file is empty.');
  expect(await tree.run('read', { path: 'a.bin' })).toEqual({ text: 'a.bin is a binary file (2 B).', isError: true });
  expect((await tree.run('read', { path: 'nope.txt' })).text).toBe(
    'nope.txt does not exist. Use list or glob to see which files exist.',
  );
  expect(await tree.run('read', { path: 7 })).toMatchObject({ isError: true });
});
