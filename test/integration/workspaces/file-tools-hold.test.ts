import { writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { holdOf } from '../../support/database/hold-of.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const texts: Record<string, string> = {
  'one line': 'aB3dE5gH7 '.repeat(400_000),
  'line breaks': '\n'.repeat(4e6),
  'short lines': 'ab\r\n'.repeat(1e6),
};
const toolset = createToolset();
const { signal } = new AbortController();

let root: string;
beforeAll(async () => {
  root = temporaryDirectory();
  for (const [name, text] of Object.entries(texts)) await writeFile(join(root, name), text);
  // code that runs for the first time is compiled meanwhile
  await writeFile(join(root, 'small'), 'a\n');
  await call('edit', { path: 'small', old: 'a', new: 'b' });
  await call('read', { path: 'small' });
  await call('grep', { path: 'small', pattern: '(b+)+$' });
});

function call(name: string, input: unknown) {
  return toolset[name]!.run(input, { root, signal });
}

describe.each(Object.keys(texts))('a file of %s does not block the event loop', { tags: ['slow'] }, (path) => {
  it('while it is read', async () => {
    expect(await holdOf(() => call('read', { path }))).toBe(0);
  });

  it('while it is searched', async () => {
    expect(await holdOf(() => call('grep', { path, pattern: '(x+)+$' }))).toBe(0);
    expect(await holdOf(() => call('grep', { path, pattern: 'zzz', literal: true }))).toBe(0);
  });

  it('while the text of an edit is searched', async () => {
    const old = `${texts[path]!.slice(0, 2_000)}Q`;
    expect(await holdOf(() => call('edit', { path, old, new: 'y' }))).toBe(0);
    expect(await call('edit', { path, old, new: 'y' })).toMatchObject({ isError: true });
    expect(await holdOf(() => call('multi_edit', { path, edits: [{ old: 'zzz', new: 'y' }] }))).toBe(0);
  });
});

it('edits a large file like a small one', async () => {
  await writeFile(join(root, 'large'), `${'a\n'.repeat(300_000)}last\n`);
  const edited = await call('edit', { path: 'large', old: 'last', new: 'end' });
  expect(edited.text).toMatch(/^Edited large: 1 region at line 300001 \(match: exact\)\. etag [0-9a-f]{40}/);
  expect((await call('read', { path: 'large', offset: 300_001 })).text).toContain('end');
  expect(await call('edit', { path: 'large', old: 'last', new: 'end' })).toMatchObject({ isError: true });
});

describe('a folder of 100,000 files does not block the event loop', { tags: ['slow'] }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = temporaryDirectory();
    for (let at = 0; at < 100_000; at += 1) writeFileSync(join(folder, `f${at}`), '');
  }, 60_000);

  it.each([
    ['list', { path: '.' }],
    ['glob', { pattern: '**/*.none' }],
    ['glob', { pattern: `**/${'*a'.repeat(40)}` }],
  ])('for %s %o', async (name, input) => {
    expect(await holdOf(() => toolset[name]!.run(input, { root: folder, signal }))).toBe(0);
  });

  it('and lists them in order', async () => {
    const { text } = await toolset['list']!.run({ path: '.' }, { root: folder, signal });
    const names = Array.from({ length: 100_000 }, (_, at) => `f${at}`).toSorted();
    expect(text.split('\n').slice(0, 1_000)).toEqual(names.slice(0, 1_000).map((name) => `${name}  0 B`));
  });
});

it.each([
  ['keys', Array.from({ length: 20_000 }, (_, at) => `k${at}: v\n`).join('')],
  ['brackets', '['.repeat(5_000)],
  ['documents', '---\n'.repeat(60_000)],
])('YAML of many %s holds no event loop when it is written', { tags: ['slow'] }, async (_, content) => {
  let at = 0;
  expect(await holdOf(() => call('write', { path: `new-${(at += 1)}.yaml`, content }))).toBe(0);
});
