import { posix } from 'node:path';
import { mystToMarkdown } from '../formats/myst.ts';
import type { IncludeSyntax } from '../formats/includes.ts';
import { mystIncludes, rstIncludes } from '../formats/rst-includes.ts';
import { compileGlob, GlobError } from '../../../lib/inputs/glob.ts';
import type { Navigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import { sphinxReferences } from './sphinx-references.ts';
import { sphinxTranslations, withTranslations } from './sphinx-translations.ts';
import { configFilesOf, literalOf, textOfFile } from './config-file.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { colonBlock, withBlocks } from './markup.ts';

const extensions = ['.rst', '.md', '.markdown'];
const toctree = /^([ \t]*)\.\. toctree::[ \t]*\n((?:[ \t]*\n|\1[ \t]+.*\n?)*)/gm;
const mystToctree = /^(?:`{3,}|:{3,})\{toctree\}[ \t]*\n([^]*?)^(?:`{3,}|:{3,})[ \t]*$/gm;
const maxPages = 50_000;

/** Sphinx: `conf.py`, of which only plain strings are read. */
export function sphinxLayout(files: SourceFiles): Layout | null {
  const configs = configFilesOf(files, /(?:^|\/)conf\.py$/);
  const config = configs.find(({ folder }) => ['index', 'contents'].some((name) => fileOf(`${folder}${name}`, files)));
  if (config === undefined) return null;
  const { folder: top } = config;
  const text = textOfFile(config.file);
  const root = literalOf(text, 'root_doc') ?? literalOf(text, 'master_doc') ?? 'index';
  const isExcluded = excludedBy(text);
  const references = sphinxReferences(files, { top, isExcluded });
  const substitutions = new Map(
    ['version', 'release', 'project'].flatMap((name) => {
      const value = literalOf(text, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const documents = [...files.keys()].filter((path) => path.startsWith(top) && isPage(path.slice(top.length)));
  const main = literalOf(text, 'language');
  const translations = sphinxTranslations(files, { top, config: text, documents, language: main ?? 'en' });
  const isTranslated = translations.files.length > 0;
  const language = main ?? (isTranslated ? 'en' : undefined);
  const surrounding = { prolog: textIn(text, 'rst_prolog'), epilog: textIn(text, 'rst_epilog') };
  const version = substitutions.get('version') || substitutions.get('release');
  return {
    name: 'Sphinx',
    navigation: withTranslations(toctreesOf(files, { top, root }), { top, translations }),
    settings: {
      surrounding,
      translated: translations.files.map(({ path }) => path),
      top,
      language,
      substitutions: [...substitutions],
      excluded: excludedIn.exec(text)?.[0],
    },
    suffix: '.html',
    locate({ path }) {
      const below = path.slice(top.length);
      const translated = translations.find(path);
      if (translated !== null) return { path: pathOf(below), language: translated.language, version };
      if (!path.startsWith(top) || !isPage(below)) return null;
      const missing = translations.missing(path);
      return { path: pathOf(below), language, version, ...(missing.length > 0 && { shownIn: missing }) };
    },
    added: translations.files,
    translate: translations.translate,
    linked: translations.linked,
    complete: (source, path) => (path.endsWith('.rst') ? surrounded(source, surrounding) : source),
    // colon fences may also be admonitions without braces
    prepare: (source, { path }, references) =>
      path.endsWith('.rst')
        ? source
        : withBlocks(mystToMarkdown(source, { substitutions, references, translate: translations.translate(path) }), [
            colonBlock,
          ]),
    isNavigation: (_file, source) => source.includes('toctree'),
    includes: { restructuredtext: fromOriginal(rstIncludes(top)), markdown: fromOriginal(mystIncludes(top)) },
    substitutions,
    references: { ...references, document: (name, from) => references.document(name, originalOf(from)) },
  };

  function isPage(below: string): boolean {
    return extensions.includes(posix.extname(below)) && !isExcluded(below);
  }

  function originalOf(path: string): string {
    return translations.find(path)?.original ?? path;
  }

  /** Includes of a translated page are those of the original. */
  function fromOriginal(syntax: IncludeSyntax): IncludeSyntax {
    return { ...syntax, resolve: (target, from) => syntax.resolve(target, originalOf(from)) };
  }
}

const excludedIn = /exclude_patterns\s*=\s*\[([^\]]*)/;

function excludedBy(config: string): (path: string) => boolean {
  const list = excludedIn.exec(config)?.[1] ?? '';
  const globs = [...list.matchAll(/["']([^"'\n]{1,300})["']/g)].slice(0, 200).flatMap(([, pattern = '']) => {
    try {
      return [compileGlob(`/${pattern}`), compileGlob(`/${pattern}/**`)];
    } catch (error) {
      if (error instanceof GlobError) return [];
      throw error;
    }
  });
  return (path) => /(?:^|\/)_(?:build|templates|static)\//.test(path) || globs.some((test) => test(path));
}

/** Reads the table of contents from the root page down; the captions of its parts are the titles of sections. */
function toctreesOf(files: SourceFiles, { top, root }: { top: string; root: string }): Navigation {
  const entries: Navigation['entries'] = new Map();
  const open: { page: string; groups: string[] }[] = [{ page: top + root, groups: [] }];
  for (let next = open.pop(); next !== undefined && entries.size < maxPages; next = open.pop()) {
    const { page, groups } = next;
    const file = fileOf(page, files);
    if (file === null || entries.has(page)) continue;
    entries.set(page, { order: entries.size, groups, isHidden: false, boost: 1 });
    const text = textOfFile(files.get(file));
    if (!text.includes('toctree')) continue;
    const trees = [...text.matchAll(toctree)]
      .map((match) => match[2])
      .concat([...text.matchAll(mystToctree)].map((match) => match[1]));
    const below = trees.flatMap((tree = '') => {
      const caption = /^[ \t]*:caption:[ \t]*(\S.*)$/m.exec(tree)?.[1]?.trim();
      return documentsIn(tree, { page, top, files }).map((document) => ({
        page: document,
        groups: caption === undefined ? groups : [...groups, caption],
      }));
    });
    open.push(...below.reverse());
  }
  return { entries, languages: [], versions: [] };
}

function documentsIn(tree: string, { page, top, files }: { page: string; top: string; files: SourceFiles }): string[] {
  const isGlob = /^[ \t]*:glob:/m.test(tree);
  return tree.split('\n').flatMap((line) => {
    const entry = line.trim();
    if (entry === '' || entry.startsWith(':') || entry === 'self') return [];
    const target = /<([^<>]+)>$/.exec(entry)?.[1] ?? entry;
    const document = (target.startsWith('/') ? top + target.slice(1) : posix.join(posix.dirname(page), target)).replace(
      /\.(?:rst|md)$/,
      '',
    );
    if (!isGlob || !/[*?[]/.test(document)) return [document];
    return documentsLike(document, files);
  });
}

function documentsLike(pattern: string, files: SourceFiles): string[] {
  try {
    const test = compileGlob(`/${pattern}`);
    const documents = [...files.keys()].filter((path) => extensions.includes(posix.extname(path)));
    return documents
      .map((path) => path.replace(/\.\w+$/, ''))
      .filter(test)
      .sort();
  } catch (error) {
    if (error instanceof GlobError) return [];
    throw error;
  }
}

function fileOf(document: string, files: SourceFiles): string | null {
  return extensions.map((extension) => document + extension).find((path) => files.has(path)) ?? null;
}

const maxLength = 50_000;
/** The first field list of a page, which is its front matter. */
const fields = /^\s*(?::[^:\s`][^:`\n]{0,100}:.*\n(?:[ \t]+\S.*\n)*)+/;

/**
 * Returns a setting of `conf.py` that is one string, in any quotes; empty for other values. Values in braces of an
 * f-string are filled in if they are plain strings of the same file.
 */
function textIn(config: string, name: string): string {
  const start = new RegExp(`^${name}[ \\t]*(?::[ \\t]*str[ \\t]*)?=[ \\t(\\n]*([rfRF]{0,2})("""|'''|"|')`, 'm').exec(
    config,
  );
  if (start === null) return '';
  const [whole, prefix = '', quote = ''] = start;
  const from = start.index + whole.length;
  const end = config.indexOf(quote, from);
  if (end === -1) return '';
  const text = config.slice(from, Math.min(end, from + maxLength));
  const plain = /r/i.test(prefix)
    ? text
    : text.replaceAll(/\\(.|\n)/g, (_whole, mark: string) => (mark === 'n' ? '\n' : mark === '\n' ? '' : mark));
  if (!/f/i.test(prefix)) return plain;
  return plain.replaceAll(/\{([A-Za-z_]\w{0,60})\}/g, (braces, word: string) => literalOf(config, word) ?? braces);
}

/** Puts the texts of `rst_prolog` and `rst_epilog` around a page, below its front matter. */
function surrounded(source: string, { prolog, epilog }: { prolog: string; epilog: string }): string {
  if (prolog === '' && epilog === '') return source;
  const head = prolog === '' ? '' : (fields.exec(source.slice(0, maxLength))?.[0] ?? '');
  const before = prolog === '' ? '' : `${head === '' ? '' : `${head}\n`}${prolog}\n\n`;
  return `${before}${source.slice(head.length)}${epilog === '' ? '' : `\n\n${epilog}\n`}`;
}
