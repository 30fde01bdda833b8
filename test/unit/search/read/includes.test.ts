import { expect, it } from 'vitest';
import { collectPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

/** Reads a folder whose pages include files that it does not list; returns the pages by path, and what was asked for. */
async function read(files: Record<string, string>, elsewhere: Record<string, string>) {
  const asked: string[][] = [];
  const { pages } = await collectPages<never>(
    Object.entries(files).map(([path, text]) => fileOf(path, text)),
    {
      find: () => null,
      readIncluded(paths) {
        asked.push(paths);
        return Promise.resolve(
          paths.flatMap((path) => fileOf(path, elsewhere[path] ?? '')).filter((file) => file.read() !== ''),
        );
      },
    },
  );
  return { asked, byPath: Object.fromEntries(pages.map(({ path, content }) => [path, content])) };
}

const python = 'import os\n# #region run\ndef run():\n    return 1\n# #endregion run\n';
const sections = 'a = 1\n# --8<-- [start:one]\n    b = 2\n# --8<-- [end:one]\nc = 3\n';
const tagged = '// tag::all[]\nint a;\n// tag::inner[]\n  int b;\n// end::inner[]\n// end::all[]\nint c;\n';
const mkdocs = { 'mkdocs.yml': 'site_name: A\n' };
const vitepress = { '.vitepress/config.ts': 'export default {}' };
const sphinx = { 'docs/conf.py': "project = 'A'\n", 'docs/index.rst': 'A\n=\n' };

it.each([
  [
    'rst',
    sphinx,
    'docs/a.rst',
    '.. literalinclude:: /../code/a.py\n   :lines: 3-4',
    'code/a.py',
    python,
    '```py\ndef run():\n    return 1\n```',
  ],
  [
    'MyST',
    sphinx,
    'docs/a.md',
    '```{literalinclude} ../code/a.py\n:language: python\n:lines: 3-\n:end-before: endregion\n```',
    'code/a.py',
    python,
    '```python\ndef run():\n    return 1\n```',
  ],
  [
    'MkDocs',
    mkdocs,
    'docs/a.md',
    '=== "Python"\n\n    ```py\n    --8<-- "../code/a.py"\n    ```',
    '../code/a.py',
    python,
    '```py\nimport os\n',
  ],
  ['MkDocs', mkdocs, 'docs/a.md', '```py\n--8<-- "code/a.py:one"\n```', 'code/a.py', sections, '```py\nb = 2\n```'],
  ['MkDocs', mkdocs, 'docs/a.md', '```py\n--8<-- "code/a.py:4:5"\n```', 'code/a.py', sections, '```py\nc = 3\n```'],
  [
    'MkDocs',
    mkdocs,
    'docs/a.md',
    '- One\n\n  --8<--\n  ; code/b.md\n  code/a.md\n  --8<--',
    'code/a.md',
    'Two\n',
    '- One\n\n\n  Two',
  ],
  [
    'Docusaurus',
    { 'docusaurus.config.js': '' },
    'docs/a.mdx',
    'import Example from \'!!raw-loader!../code/a.jsx\';\n\n<CodeBlock language="tsx" title="A">{Example}</CodeBlock>',
    'code/a.jsx',
    '<Lamp>{on}</Lamp>\n',
    '```tsx\n<Lamp>{on}</Lamp>\n```',
  ],
  [
    'Starlight',
    { 'astro.config.mjs': "import starlight from '@astrojs/starlight'" },
    'src/content/docs/a.mdx',
    'import example from \'/code/a.js?raw\';\n\n<Code code={example} lang="js" />',
    'code/a.js',
    'lamp();\n',
    '```js\nlamp();\n```',
  ],
  [
    'MkDocs',
    mkdocs,
    'docs/a.md',
    '```py\n{!> ../../code/a.py !}\n```',
    '../../code/a.py',
    'x = 1\n',
    '```py\nx = 1\n```',
  ],
  [
    'MkDocs',
    mkdocs,
    'docs/a.md',
    '{* ../../code/a.py hl[1] ln[3:4] *}',
    '../../code/a.py',
    python,
    '```py\ndef run():\n    return 1\n```',
  ],
  [
    'MkDocs',
    mkdocs,
    'docs/a.md',
    '{% include-markdown "../README.md" start="<!--s-->" end="<!--e-->" %}',
    '../README.md',
    'No <!--s-->Yes<!--e--> no',
    'Yes',
  ],
  [
    'VitePress',
    vitepress,
    'a.md',
    '<<< @/../code/a.py#run{1 python} [Run it]',
    '../code/a.py',
    python,
    '**Run it**\n\n```python\ndef run():\n    return 1\n```',
  ],
  [
    'VitePress',
    vitepress,
    'a.md',
    '- One\n\n  <<< ./code/a.ts',
    'code/a.ts',
    'let a = "```"\n',
    '  ```ts\n  let a = "```"\n',
  ],
  ['VitePress', vitepress, 'a.md', '<!--@include: ../b.md{2,3}-->', '../b.md', 'one\ntwo\nthree\nfour\n', 'two\nthree'],
  [
    'AsciiDoc',
    {},
    'a.adoc',
    ':code: ../code\n\n[source,java]\n----\ninclude::{code}/A.java[tags=all;!inner]\n----',
    '../code/A.java',
    tagged,
    '```java\nint a;\n```',
  ],
  ['AsciiDoc', {}, 'a.adoc', '----\ninclude::A.java[tag=inner,indent=0]\n----', 'A.java', tagged, '```\nint b;\n```'],
  [
    'AsciiDoc',
    {},
    'a.adoc',
    '----\ninclude::A.java[lines="2..4;7"]\n----',
    'A.java',
    tagged,
    '```\nint a;\n// tag::inner[]\n  int b;\nint c;\n```',
  ],
  ['AsciiDoc', {}, 'a.adoc', '----\ninclude::A.java[]\n----', 'A.java', tagged, '```\nint a;\n  int b;\nint c;\n```'],
  [
    'AsciiDoc',
    {},
    'a.adoc',
    '= T\n\n== One\n\ninclude::../b.adoc[leveloffset=+1]\n\n== Two',
    '../b.adoc',
    '= B\n\nWords.\n',
    '## B {#_b}\n\nWords.\n\n## Two',
  ],
])(
  '%s shows what it includes from outside of the listed files: %#',
  async (_tool, more, page, directive, path, text, shown) => {
    const title = page.endsWith('.rst') ? 'T\n=\n\n' : page.endsWith('.md') ? '# T\n\n' : '';
    const { byPath, asked } = await read({ ...more, [page]: `${title}${directive}\n` }, { [path]: text });
    expect(asked.flat()).toContain(path);
    expect(byPath.a ?? byPath['docs/a']).toContain(shown);
  },
);

it('asks for all missing files at once, for what these include next, and for nothing twice', async () => {
  const { byPath, asked } = await read(
    {
      'a.rst': 'Top\n===\n\n.. include:: ../one.txt\n\n.. include:: ../none.txt\n',
      'b.rst': 'Top\n===\n\n.. include:: ../one.txt\n\n.. literalinclude:: ../code.py\n',
    },
    { '../one.txt': 'One.\n\n.. include:: two.txt\n', '../two.txt': 'Two.\n', '../code.py': 'x = 1\n' },
  );
  expect(asked).toEqual([['../one.txt', '../none.txt', '../code.py'], ['../two.txt']]);
  expect(byPath).toEqual({ a: '# Top\n\nOne.\n\nTwo.', b: '# Top\n\nOne.\n\nTwo.\n\n```py\nx = 1\n```' });
});

it('follows no directive in included code, and ends where files include each other', async () => {
  const { byPath, asked } = await read(
    { 'a.rst': 'Top\n===\n\n.. literalinclude:: ../a.txt\n\n.. include:: ../b.txt\n' },
    {
      '../a.txt': '.. include:: secret.txt\n',
      '../b.txt': 'B.\n\n.. include:: c.txt\n',
      '../c.txt': 'C.\n\n.. include:: b.txt\n',
    },
  );
  expect(asked.flat()).toEqual(['../a.txt', '../b.txt', '../c.txt']);
  expect(byPath.a).toBe('# Top\n\n```txt\n.. include:: secret.txt\n```\n\nB.\n\nC.');
});
