import { posix } from 'node:path';
import { isRecord, textOf } from '../front-matter.ts';
import { parseFile, readConfig, type Navigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import { textOfFile } from './config-file.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { labelOf, withBlocks, type BlockSyntax } from './markup.ts';

const block: BlockSyntax = {
  open: /^\{%-?\s*(?!end)([\w-]+)\s*(.*?)\s*-?%\}$/,
  label([, name = '', given = '']) {
    const values = new Map(
      [...given.matchAll(/([\w-]+)\s*=\s*"([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
    );
    if (name === 'hint') return labelOf(values.get('style') ?? 'note');
    return values.get('title') ?? values.get('date') ?? '';
  },
  close: /^\{%-?\s*end[\w-]+\s*-?%\}$/,
};

const mostLanguages = 100;
const mostSpaces = 100;

/** GitBook: `.gitbook.yaml`, or a `SUMMARY.md` beside a `README.md`, or a `LANGS.md` that names folders with one each. */
export function gitbookLayout(files: SourceFiles): Layout | null {
  const config = parseFile(files.get('.gitbook.yaml'));
  const structure = isRecord(config) && isRecord(config.structure) ? config.structure : {};
  const top = posix.join(isRecord(config) ? (textOf(config.root) ?? '') : '', '/').replace(/^(?:\.?\/)+/, '');
  const summaryName = textOf(structure.summary) ?? 'SUMMARY.md';
  const readme = posix.join(top, textOf(structure.readme) ?? 'README.md');
  const languages = languagesOf(textOfFile(files.get(`${top}LANGS.md`)))
    .filter((language) => files.has(posix.join(top, language, summaryName)))
    .slice(0, mostLanguages);
  const folders =
    languages.length === 0 ? spacesOf(files, top, summaryName) : languages.map((language) => `${top}${language}/`);
  const summaries = folders.map((folder) => posix.join(folder, summaryName));
  const isOld = files.has(summaries[0] ?? '') && (files.has(readme) || languages.length > 0) && !files.has('book.toml');
  if (!files.has('.gitbook.yaml') && !isOld) return null;
  const variables = variablesOf(files, top);
  return {
    name: 'GitBook',
    navigation: navigationOf(files, folders, summaryName),
    settings: { top, readme, languages, variables },
    locate({ path }) {
      if (!path.startsWith(top) || !/\.md$/i.test(path) || /(?:^|\/)\./.test(path)) return null;
      if ([...summaries, top + summaryName, `${top}LANGS.md`].includes(path)) return null;
      if (path === readme) return { path: 'index' };
      const language = languages.find((name) => path.startsWith(`${top}${name}/`));
      return { path: pathOf(path.slice(top.length)).replace(/\/README$/, ''), language };
    },
    includes: {
      markdown: {
        pattern: /^[ \t]*\{%-?\s*include\s+"([^"\n]{1,500})"\s*-?%\}[ \t]*$/gm,
        resolve: (target, from) => [posix.normalize(posix.join(posix.dirname(from), target))],
      },
    },
    prepare: (text, { values }) =>
      withBlocks(
        withVariables(text, { ...variables, page: values.vars }).replace(
          /^\{%\s*(?:embed|content-ref)\s+url="([^"\n]*)"\s*%\}$/gm,
          '[$1]($1)',
        ),
        [block],
      ),
  };
}

/** Returns the folders of the spaces that one repository has, each with its own summary; the top if it has one. */
function spacesOf(files: SourceFiles, top: string, summaryName: string): string[] {
  if (files.has(top + summaryName)) return [top];
  const folders = [...files.keys()]
    .filter((path) => path.startsWith(top) && path.endsWith(`/${summaryName}`) && !/(?:^|\/)\./.test(path))
    .map((path) => path.slice(0, -summaryName.length))
    .sort();
  return folders.length === 0 ? [top] : folders.slice(0, mostSpaces);
}

/** Returns the folders that a list of languages links to. */
function languagesOf(list: string): string[] {
  return [...list.matchAll(/^[ \t]*[*+-][ \t]+\[[^\]\n]*\]\((?:\.\/)?([\w-]{1,30})\/?(?:README\.md)?\)/gm)].map(
    ([, folder = '']) => folder,
  );
}

interface Variables {
  book: unknown;
  space: unknown;
}

/** Returns the variables of a space, and those of `book.json` in older versions. */
function variablesOf(files: SourceFiles, top: string): Variables {
  const book = parseFile(files.get('book.json'));
  const stated = [`${top}.gitbook/vars.yaml`, '.gitbook/vars.yaml'].map((path) => files.get(path));
  return {
    book: isRecord(book) ? book.variables : undefined,
    space: parseFile(stated.find((file) => file !== undefined)),
  };
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

function navigationOf(files: SourceFiles, folders: readonly string[], summaryName: string): Navigation {
  const entries: Navigation['entries'] = new Map();
  for (const folder of folders) addEntries(entries, readConfig(files.get(posix.join(folder, summaryName))), folder);
  return { entries, languages: [], versions: [] };
}

/** Reads the list of pages; its headings and the lines above nested ones are the titles of sections. */
function addEntries(entries: Navigation['entries'], summary: string, top: string): void {
  let section: string[] = [];
  const parents: { indent: number; title: string }[] = [];
  for (const line of summary.split('\n')) {
    const heading = /^#{2,6}\s+(.*?)(?:\s*<a .*)?$/.exec(line);
    if (heading !== null) {
      section = [heading[1] ?? ''];
      parents.length = 0;
    }
    const [, blank = '', title = '', target = ''] = /^(\s*)[*+-]\s+\[([^\]]*)\]\(<?([^()\s>]*)/.exec(line) ?? [];
    if (target === '') continue;
    while ((parents.at(-1)?.indent ?? -1) >= blank.length) parents.pop();
    const key = pathOf(top + target);
    if (!/^[a-z]+:/i.test(target) && !entries.has(key))
      entries.set(key, {
        order: entries.size,
        groups: [...section, ...parents.map((parent) => parent.title)],
        isHidden: false,
        boost: 1,
      });
    parents.push({ indent: blank.length, title });
  }
}
