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

it.each([
  ['Other_ and `Two words`_', '[Other](#other) and [Two words](#two-words)'],
  ['`the part`_ and indirect_', '[the part](#the-part) and [indirect](#the-part)'],
  ['chained_ and `far`_', '[chained](https://a.b/c) and [far](https://a.b/c)'],
  ['`again`_, said `again <https://a.b/x>`_', '[again](https://a.b/x), said [again](https://a.b/x)'],
  [
    'an _`inner target` and `inner target`_',
    'an <a id="inner-target"></a>inner target and [inner target](#inner-target)',
  ],
  ['below_', '[below](https://a.b/below)'],
  ['`Other <https://a.b/other_/other_(x)>`__', '[Other](https://a.b/other_/other_%28x%29)'],
  [':code:`other_{x}`, ``other_`` and other_{x}', '`other_{x}`, `other_` and other_{x}'],
])('links references of reStructuredText on a page: %s', async (source, text) => {
  const { a } = await read({
    'a.rst': `A\n=\n\nSee ${source}.\n\n.. _chained:\n.. _far: https://a.b/c\n.. _below:\n   https://a.b/below\n.. _indirect: \`the part\`_\n\nTwo words\n---------\n\nOther\n-----\n\n.. _the part:\n\nWords.\n`,
  });
  expect(a?.content).toContain(`See ${text}.`);
});

/** Pages, and the ids that Sphinx 9 gives their headings and objects. */
const identified: [string, string, string[]][] = [
  [
    'titles',
    "What's *new*: ``a.b`` & c\n=========================\n\n3. Ünder\n---------\n\nFixed\n^^^^^\n\n日本\n----\n\nFixed\n^^^^^\n",
    ['what-s-new-a-b-c', 'under', 'fixed', 'id1', 'id2'],
  ],
  [
    'names of directives',
    'A\n=\n\n.. image:: x.png\n   :name: My pic\n\n.. code-block:: sh\n   :name: run\n\n   ls\n\n.. note::\n   :name: look\n\n   Words.\n',
    ['a', 'my-pic', 'run', 'look'],
  ],
  [
    'objects of Python',
    'A\n=\n\n.. module:: acme.lamps\n\n.. function:: on(x)\n              off()\n\n.. class:: Lamp(x)\n\n   .. method:: glow()\n      :async:\n\n      Words.\n\n.. py:data:: x\n   :module: y\n\n.. function:: no\n   :no-index:\n\n.. currentmodule:: None\n\n.. exception:: E\n',
    [
      'a',
      'module-acme.lamps',
      'acme.lamps.on',
      'acme.lamps.off',
      'acme.lamps.Lamp',
      'acme.lamps.Lamp.glow',
      'y.x',
      'E',
    ],
  ],
  [
    'options and settings',
    'A\n=\n\n.. option:: -a, --all-of=<x>\n\n.. program:: run it\n\n.. option:: -b\n.. option:: file\n\n.. confval:: my_setting\n   :type: int\n\n.. envvar:: A_B\n',
    [
      'a',
      'cmdoption-a',
      'cmdoption-all-of',
      'cmdoption-run-it-b',
      'cmdoption-run-it-arg-file',
      'confval-my_setting',
      'envvar-A_B',
    ],
  ],
  [
    'other objects and terms',
    'A\n=\n\n.. rst:directive:: .. note:: x\n\n   .. rst:directive:option:: name: y\n\n.. rst:role:: py:ref\n\n.. js:function:: $.get(x)\n\n.. c:function:: int *run(void)\n\n.. glossary::\n\n   Big lamp\n   Torch : key\n      Words.\n',
    ['a', 'directive-note', 'directive-option-note-name', 'role-py-ref', 'get', 'c.run', 'term-Big-lamp', 'term-Torch'],
  ],
];

it.each(identified)('gives the anchors that Sphinx makes: %s', async (_kind, source, anchors) => {
  const { a } = await read({ 'a.rst': source });
  expect(chunkPage(a?.content ?? '', '').anchors.toSorted()).toEqual(anchors.toSorted());
});

it('shows all signatures of an object, and its class', async () => {
  const { a } = await read({
    'a.rst': 'A\n=\n\n.. class:: Lamp(x)\n           Lamp(y)\n\n   Words.\n\n.. class:: small-text\n\n   More.\n',
  });
  expect(a?.content).toMatch(/`Lamp\(x\)`\s+.*`Lamp\(y\)`\s+Words\.\s+More\.$/);
});

it('shows what is written below a description that is generated', async () => {
  const { a } = await read({
    'a.rst':
      'Lamps\n=====\n\n.. autoclass:: acme.Lamp\n   :members: x\n\n   .. attribute:: name\n\n      Its name.\n\n.. autosummary::\n\n   acme.Lamp\n',
  });
  expect(a?.content).toBe('# Lamps\n\n<a id="acme.Lamp.name"></a>`name`\n\nIts name.');
});
