import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

async function read(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return Object.fromEntries(pages.map((page) => [page.path, page]));
}

it('fills in the variables of GitBook', async () => {
  const byPath = await read({
    '.gitbook.yaml': 'root: ./docs/\n',
    'book.json': '{"variables": {"product": {"name": "Acme"}}}',
    'docs/.gitbook/vars.yaml': 'port: 8080\n',
    'docs/SUMMARY.md': '* [Home](README.md)\n',
    'docs/README.md':
      '---\nvars: { color: red }\n---\n# Home\n\n{{ book.product.name }} at <code class="expression">space.vars.port</code> in <code class="expression">page.vars.color</code>, {{ book.none }}.\n',
  });
  expect(byPath.index?.content).toContain('Acme at 8080 in red, {{ book.none }}.');
});

it.each(['{', '[]', '{"variables": [], "root": 1}'])('reads GitBook with a malformed book.json: %s', async (text) => {
  const byPath = await read({
    'book.json': text,
    'SUMMARY.md': '* [Home](README.md)\n',
    '.gitbook/vars.yaml': '[',
    'README.md': '{{ book.a }}',
  });
  expect(byPath.index?.content).toBe('{{ book.a }}');
});

it('fills in the front matter of Docusaurus outside code', async () => {
  const byPath = await read({
    'docusaurus.config.js': 'module.exports = {};',
    'docs/a.md':
      '---\ntitle: Lamps\nwatts: 7\n---\n# {frontMatter.title}\n\nWith { frontMatter.watts } W, {frontMatter.none}, `{frontMatter.title}`.\n\n```jsx\n{frontMatter.title}\n```\n',
  });
  expect(byPath['docs/a']?.content.trim()).toBe(
    '# Lamps\n\nWith 7 W, {frontMatter.none}, `{frontMatter.title}`.\n\n```jsx\n{frontMatter.title}\n```',
  );
});
