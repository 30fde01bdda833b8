import { expect, it } from 'vitest';
import { chunkPage } from '../../../../search/build/chunk-page.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

/** Reads the pages of a Sphinx project by their paths. */
async function read(files: Record<string, string>) {
  const sources = Object.entries({ 'conf.py': '', 'index.rst': 'Top\n===\n', ...files });
  const pages = await readPages(sources.map(([path, text]) => fileOf(path, text)));
  return Object.fromEntries(pages.map((page) => [page.path, page]));
}

const others = {
  'guide/b.rst': 'The ``B``\n=========\n\n.. _more_here:\n\nMore\n----\n',
  'guide/m.md': '# Of *MyST*\n\n(a/b)=\n(in_m)=\n## Inner\n\n```{figure} x.png\n:name: pic\n```\n',
};

it.each([
  [
    '{ref}`more_here`, {ref}`in_m` and {ref}`these words <a/b>`',
    '[More](/guide/b#more-here), [Inner](/guide/m#in-m) and [these words](/guide/m#a-b)',
  ],
  [
    '{doc}`guide/b`, {doc}`/guide/m` and {doc}`it <guide/b>`',
    '[The `B`](/guide/b), [Of *MyST*](/guide/m) and [it](/guide/b)',
  ],
  [
    '{term}`lamps <lamp>`, {py:class}`~acme.Lamp`, {pep}`8` and {ref}`no-where`',
    'lamps, `Lamp`, [PEP 8](https://peps.python.org/pep-0008/) and no where',
  ],
  ['{any}`in_m` and {any}`guide/b`', '[Inner](/guide/m#in-m) and [The `B`](/guide/b)'],
  ['`` {ref}`in_m` `` and `x`', '`` {ref}`in_m` `` and `x`'],
  [
    '[](#in_m), [](guide/m.md), [](in_m) and <project:#in_m>',
    '[Inner](/guide/m#in-m), [Of *MyST*](/guide/m), [Inner](/guide/m#in-m) and [Inner](/guide/m#in-m)',
  ],
  [
    '[that](#in_m), [pic](#pic), [own](#second) and [home](/guide/m.md#x)',
    '[that](/guide/m#in-m), [pic](/guide/m#pic), [own](#second) and [home](/guide/m#x)',
  ],
  ['[](#acme.Lamp), [](inv:py#lamp) and [Lamps](inv:py:class#*.Lamp)', '`acme.Lamp`, `lamp` and Lamps'],
])('reads the references of MyST as their words or titles: %s', async (source, text) => {
  const { a } = await read({ ...others, 'a.md': `# A\n\n${source}.\n\n## Second\n` });
  expect(a?.content).toContain(`${text}.`);
});

it('keeps references in code, and reads directives of MyST inside each other', async () => {
  const { a } = await read({
    ...others,
    'a.md':
      '# A\n\n```md\n{ref}`in_m`\n```\n\n- ```md\n  {ref}`in_m`\n  ```\n\n````{versionadded} 1.2\n:class: x\nWith {ref}`in_m`.\n\n```{code-block} python\n---\nlineno: true\n---\nrun()\n```\n````\n\n```{eval-rst}\n.. note:: See :ref:`in_m`.\n```\n\n::::{tab-set}\n:::{tab-item} Linux\n:sync: l\napt\n:::\n::::\n',
  });
  expect(a?.content.trim().replaceAll(/\n{2,}/g, '\n')).toBe(
    '# A\n```md\n{ref}`in_m`\n```\n- ```md\n  {ref}`in_m`\n  ```\n**Added in version 1.2**\nWith [Inner](/guide/m#in-m).\n```python\nrun()\n```\n**Note:**\nSee [Inner](/guide/m#in-m).\n**Linux**\napt',
  );
});

it('gives targets, names and attributes of MyST their anchors', async () => {
  const { 'guide/m': page } = await read({
    ...others,
    'guide/m.md': `${others['guide/m.md']}\n(last words)=\n\n{.big #words}\nWords.\n`,
  });
  expect(chunkPage(page?.content ?? '', '').anchors).toEqual(['of-myst', 'in-m', 'a-b', 'pic', 'last-words', 'words']);
});

it('shows no title of a page for groups in MyST', async () => {
  const { a } = await read({
    'a.md': 'See {ref}`d` and {doc}`c`.\n',
    'c.md': '---\ngroups: [x]\n---\n(d)=\n# Walrus\n',
  });
  expect(a?.content).toContain('See d and [c](/c).');
});
