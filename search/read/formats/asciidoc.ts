import { load } from '@asciidoctor/core';
import { textOf, type FrontMatter } from '../front-matter.ts';
import { htmlToMarkdown } from './html.ts';

/**
 * Longest page that is parsed, in characters. Long runs of one character are shortened, because the parser's regular
 * expressions take cubic time on them.
 */
const maxLength = 300_000;
const statedAttributes = ['description', 'keywords', 'groups', 'tags', 'version', 'lang'];

/**
 * Reads an AsciiDoc page as Markdown. Its header states what front matter states elsewhere, for example
 * `:groups: staff` or `:page-groups: staff`. Includes must be resolved before: the converter opens no files.
 */
export async function readAsciiDoc(text: string, attributes: Record<string, string> = {}): Promise<FrontMatter> {
  const bounded = text.slice(0, maxLength).replaceAll(/([^\w\s])\1{99,}/g, '$1'.repeat(10));
  const document = await load(bounded, {
    safe: 'secure',
    attributes: {
      experimental: '',
      icons: null,
      'attribute-missing': 'skip',
      showtitle: '',
      relfilesuffix: '.adoc',
      ...attributes,
      // a list of the headings would be found for each of them
      toc: null,
    },
    logger: null,
  });
  const values: Record<string, unknown> = {};
  for (const name of statedAttributes) {
    const value = document.getAttribute(`page-${name}`) ?? document.getAttribute(name);
    if (value !== undefined && value !== null) values[name] = textOf(value) ?? {};
  }
  const html = await document.convert();
  return { values, body: htmlToMarkdown(String(html)) };
}
