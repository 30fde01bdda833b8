import { posix } from 'node:path';
import { isRecord, textOf } from '../front-matter.ts';
import { parseFile, readConfig, type Navigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
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

/** GitBook: `.gitbook.yaml`, or a `SUMMARY.md` beside a `README.md`. */
export function gitbookLayout(files: SourceFiles): Layout | null {
  const config = parseFile(files.get('.gitbook.yaml'));
  const structure = isRecord(config) && isRecord(config.structure) ? config.structure : {};
  const top = posix.join(isRecord(config) ? (textOf(config.root) ?? '') : '', '/').replace(/^(?:\.?\/)+/, '');
  const summary = posix.join(top, textOf(structure.summary) ?? 'SUMMARY.md');
  const readme = posix.join(top, textOf(structure.readme) ?? 'README.md');
  const isOld = files.has(summary) && files.has(readme) && !files.has('book.toml');
  if (!files.has('.gitbook.yaml') && !isOld) return null;
  return {
    name: 'GitBook',
    navigation: navigationOf(readConfig(files.get(summary)), top),
    settings: { top, readme },
    place({ path }) {
      if (!path.startsWith(top) || !/\.md$/i.test(path) || path === summary || /(?:^|\/)\./.test(path)) return null;
      if (path === readme) return { path: 'index' };
      return { path: pathOf(path.slice(top.length)).replace(/\/README$/, '') };
    },
    includes: {
      markdown: {
        pattern: /^[ \t]*\{%-?\s*include\s+"([^"\n]{1,500})"\s*-?%\}[ \t]*$/gm,
        resolve: (target, from) => [posix.normalize(posix.join(posix.dirname(from), target))],
      },
    },
    prepare: (text) =>
      withBlocks(text.replace(/^\{%\s*(?:embed|content-ref)\s+url="([^"\n]*)"\s*%\}$/gm, '[$1]($1)'), [block]),
  };
}

/** Reads the list of pages; its headings and the lines above nested ones are the titles of sections. */
function navigationOf(summary: string, top: string): Navigation {
  const entries: Navigation['entries'] = new Map();
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
  return { entries, languages: [], versions: [] };
}
