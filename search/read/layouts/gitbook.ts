import { posix } from 'node:path';
import { isRecord, textOf } from '../front-matter.ts';
import { parseFile, readConfig, type Navigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import { gitbookSpaces, type GitbookSpace } from './gitbook-spaces.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { labelOf, withBlocks, type BlockSyntax } from './markup.ts';

const block: BlockSyntax = {
  open: /^\{%-?\s*(?!end)([\w-]+)(?![\w-])(.*)%\}$/s,
  label([, name = '', given = '']) {
    const values = new Map(
      [...given.matchAll(/(?<![\w-])([\w-]+)\s*=\s*"([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
    );
    if (name === 'hint') return labelOf(values.get('style') ?? 'note');
    return values.get('title') ?? values.get('date') ?? '';
  },
  close: /^\{%-?\s*end[\w-]+\s*-?%\}$/,
};

/** GitBook: `.gitbook.yaml`, or a `SUMMARY.md` beside a `README.md`, or a `LANGS.md` that names folders with one each. */
export function gitbookLayout(files: SourceFiles): Layout | null {
  const found = gitbookSpaces(files);
  if (found === null) return null;
  const { top, spaces } = found;
  const summaries = new Set([top, ...spaces].map(({ summary }) => summary));
  const book = parseFile(files.get('book.json'));
  const variables = isRecord(book) ? book.variables : undefined;
  // the innermost folder counts
  const inside = spaces.toSorted((a, b) => b.folder.length - a.folder.length);
  const spaceOf = (path: string) =>
    inside.find(({ folder }) => path.startsWith(folder)) ?? (path.startsWith(top.folder) ? top : null);
  return {
    name: 'GitBook',
    navigation: navigationOf(files, spaces),
    settings: { top, spaces, variables },
    locate({ path }) {
      const space = spaceOf(path);
      if (space === null || !/\.md$/i.test(path) || /(?:^|\/)\./.test(path)) return null;
      if (summaries.has(path) || path === `${top.folder}LANGS.md`) return null;
      const { base, folder, readme, language, version, section } = space;
      const below = path === readme ? '' : path.slice(folder.length);
      return {
        path: pathOf(base + below).replace(/\/README$/, ''),
        language,
        version,
        ...(section && { groups: [section] }),
      };
    },
    includes: {
      markdown: {
        pattern: /^[ \t]*\{%-?\s*include\s+"([^"\n]{1,500})"\s*-?%\}[ \t]*$/gm,
        resolve: (target, from) => [posix.normalize(posix.join(posix.dirname(from), target))],
      },
    },
    prepare: (text, { path, values }) =>
      withBlocks(
        withVariables(text, { book: variables, space: (spaceOf(path) ?? top).variables, page: values.vars }).replace(
          /^\{%\s*(?:embed|content-ref)\s+url="([^"\n]*)"\s*%\}$/gm,
          '[$1]($1)',
        ),
        [block],
      ),
  };
}

interface Variables {
  book: unknown;
  space: unknown;
}

/** Fills in `{{ book.name }}`, and the expressions `space.vars.name` and `page.vars.name`. */
function withVariables(text: string, { book, space, page }: Variables & { page: unknown }): string {
  return text
    .replace(/\{\{\s*book\.([\w.-]{1,100})\s*\}\}/g, (whole, name: string) => variable(name, book) ?? whole)
    .replace(
      /<code class="expression">\s*(space|page)\.vars\.([\w.-]{1,100})\s*<\/code>/g,
      (whole, owner: string, name: string) => variable(name, owner === 'space' ? space : page) ?? whole,
    );
}

function variable(name: string, values: unknown): string | undefined {
  const value = name.split('.').reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), values);
  return textOf(value)?.slice(0, 500);
}

function navigationOf(files: SourceFiles, spaces: readonly GitbookSpace[]): Navigation {
  const entries: Navigation['entries'] = new Map();
  for (const space of spaces) addEntries(entries, readConfig(files.get(space.summary)), space);
  return { entries, languages: [], versions: [] };
}

/** Reads the list of pages; its headings and the lines above nested ones are the titles of sections. */
function addEntries(entries: Navigation['entries'], summary: string, { folder, section: space }: GitbookSpace): void {
  let section: string[] = [];
  const parents: { indent: number; title: string }[] = [];
  for (const line of summary.split('\n')) {
    const heading = /^#{2,6}\s+(.*)$/s.exec(line)?.[1];
    if (heading !== undefined) {
      section = [heading.split('<a ', 1)[0]?.trimEnd() ?? ''];
      parents.length = 0;
    }
    const [, blank = '', title = '', target = ''] = /^(\s*)[*+-]\s+\[([^\]]*)\]\(<?([^()\s>]*)/.exec(line) ?? [];
    if (target === '') continue;
    while ((parents.at(-1)?.indent ?? -1) >= blank.length) parents.pop();
    const key = pathOf(folder + target);
    if (!/^[a-z]+:/i.test(target) && !entries.has(key))
      entries.set(key, {
        order: entries.size,
        groups: [...(space === undefined ? [] : [space]), ...section, ...parents.map((parent) => parent.title)],
        isHidden: false,
        boost: 1,
      });
    parents.push({ indent: blank.length, title });
  }
}
