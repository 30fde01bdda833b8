import { posix } from 'node:path';
import type { IncludeSyntax } from '../../formats/includes.ts';
import { codeBlock } from '../../formats/selection.ts';
import { textOf } from '../../front-matter.ts';
import { shortcodeOf, type Shortcode } from './shortcodes.ts';
import type { SourceFiles } from '../layout.ts';

const examples = /^(?:code_sample|codenew|example)$/;

/**
 * Shortcodes that show another file: its text (`include`, `readfile`), its code (`code_sample`), or the title or the text of
 * a page of the glossary. `folders` are those of the content, that of each language first.
 */
export function hugoIncludes(files: SourceFiles, folders: readonly string[]): IncludeSyntax {
  let terms: Map<string, string[]> | null = null;

  function termsNamed(id: string, from: string): string[] {
    terms ??= glossaryOf(files);
    const found = terms.get(id.toLowerCase().replaceAll(' ', '-')) ?? [];
    const own = folders.find((folder) => from.startsWith(folder)) ?? '';
    return [...found.filter((path) => path.startsWith(own)), ...found];
  }

  return {
    pattern:
      /\{\{[<%][ \t]*(?<target>(?:include|readfile|code_sample|codenew|example|glossary_definition|glossary-term|glossary_tooltip(?![^{}\n]*\btext[ \t]*=)|api-reference(?![^{}\n]*\btext[ \t]*=))[ \t][^{}\n]{1,500}?)\/?[>%]\}\}/g,
    resolve(target, from) {
      const { name, named, positional } = shortcodeIn(target);
      const term = named.get('term_id') ?? (name === 'glossary-term' ? positional[0] : undefined);
      if (term !== undefined) return termsNamed(term, from);
      const file = named.get('file') ?? named.get('page') ?? positional[0] ?? '';
      const below = file.replace(/^\//, '');
      if (examples.test(name)) return [beside(file, from), ...folders.map((folder) => `${folder}examples/${below}`)];
      if (name === 'api-reference')
        return folders.map((folder) => `${folder}docs/reference/kubernetes-api/${below.replace(/\/$/, '')}.md`);
      const common = folders.map((folder) => folder + below);
      return file.startsWith('/') ? common : [beside(file, from), ...common];
    },
    isCode: ({ groups = {} }) => isCode(shortcodeIn(groups.target)),
    adapt(text, { groups = {} }, values) {
      const shortcode = shortcodeIn(groups.target);
      const { name, named } = shortcode;
      if (isCode(shortcode)) {
        const file = named.get('file') ?? shortcode.positional[0] ?? '';
        const language = named.get('language') ?? named.get('lang') ?? posix.extname(file).slice(1);
        return codeBlock(text.replace(/\n$/, '').split(/\r?\n/), language);
      }
      if (name === 'glossary_tooltip' || name === 'api-reference') return textOf(values.title) ?? wordsOf(shortcode);
      if (name !== 'glossary_definition') return text;
      const definition = text.trim();
      const start = named.get('prepend');
      const shown =
        start === undefined ? definition : `${start} ${definition.charAt(0).toLowerCase()}${definition.slice(1)}`;
      return named.get('length') === 'short' ? (shown.split(/\n[ \t]*\n/, 1)[0] ?? '') : shown;
    },
    missing: ({ groups = {} }) => wordsOf(shortcodeIn(groups.target)),
  };
}

function shortcodeIn(target = ''): Shortcode {
  return shortcodeOf(target) ?? { name: '', named: new Map(), positional: [] };
}

function isCode({ name, named }: Shortcode): boolean {
  return examples.test(name) || (name === 'readfile' && named.get('code') === 'true');
}

/** Returns what can be shown without the file. */
function wordsOf({ name, named, positional }: Shortcode): string {
  if (name === 'glossary-term') return positional[0] ?? '';
  return (
    named.get('prepend') ??
    named.get('term_id') ??
    named
      .get('page')
      ?.split('/')
      .at(-1)
      ?.replace(/-v\d\w*$/, '') ??
    ''
  );
}

function beside(target: string, from: string): string {
  return posix.normalize(posix.join(posix.dirname(from), target));
}

/** Returns the pages of all glossaries by the names of their files. */
function glossaryOf(files: SourceFiles): Map<string, string[]> {
  const terms = new Map<string, string[]>();
  for (const path of files.keys()) {
    const id = /\/glossary\/([^/]+)\.md$/.exec(path)?.[1]?.toLowerCase();
    if (id !== undefined) terms.set(id, [...(terms.get(id) ?? []), path]);
  }
  return terms;
}
