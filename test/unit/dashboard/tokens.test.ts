import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const folder = resolve(import.meta.dirname, '../../../dashboard/styles');
/** Colors, font sizes and radii that are written out. */
const literal = /(?:#[\da-f]{3,8}\b|font-size: [\d.]+rem|border-radius: \d+px(?=;))/g;

async function sheets(): Promise<{ name: string; text: string }[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.css'));
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })));
}

it('style sheets take colors, font sizes and radii from the tokens', async () => {
  const found = (await sheets())
    .filter(({ name }) => name !== 'tokens.css')
    .flatMap(({ name, text }) => (text.match(literal) ?? []).map((value) => `${name}: ${value}`));
  expect(found).toEqual([]);
});

it('style sheets use only tokens that exist', async () => {
  const all = await sheets();
  const defined = new Set(all.flatMap(({ text }) => [...text.matchAll(/(--[\w-]+):/g)].map(([, name]) => name)));
  const used = all.flatMap(({ text }) => [...text.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name));
  expect(used.filter((name) => !defined.has(name))).toEqual([]);
});
