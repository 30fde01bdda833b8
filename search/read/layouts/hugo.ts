import { posix } from 'node:path';
import { isRecord, textOf, tomlOf } from '../front-matter.ts';
import { noNavigation, parseFile } from '../navigation.ts';
import { addressOf, configFilesOf, orderOf, textOfFile, type ConfigFile } from './config-file.ts';
import type { Layout, LayoutFile, Place, SourceFiles } from './layout.ts';
import { labelOf } from './markup.ts';

/** The length is bounded, so that a page of openings alone takes linear time. */
const shortcode = /\{\{[<%]((?:[^{}]|\{(?!\{)){0,2000}?)[>%]\}\}/g;
const note = /^(?:note|warning|tip|caution|info|important|danger|alert|callout|admonition|hint)$/;
const shown = [/\btext\s*=\s*["`]([^"`]*)["`]/, /\bterm_id\s*=\s*["`]([^"`]*)["`]/];
const named = /\b(?:title|label|name|header|caption)\s*=\s*["`]([^"`]*)["`]/;

/** Hugo: `hugo.toml` or an older `config.*` beside a folder of content. */
export function hugoLayout(files: SourceFiles): Layout | null {
  const configs = configFilesOf(files, /(?:^|\/)(?:config\/_default\/)?(?:hugo|config)\.(?:toml|ya?ml|json)$/);
  for (const config of configs) {
    const settings = settingsOf(config);
    const content = posix.join(config.folder, textOf(settings.contentDir) ?? 'content', '/');
    const isHugo =
      /hugo\.\w+$/.test(config.file.path) || ['baseURL', 'languages', 'module'].some((key) => key in settings);
    if (!isHugo || ![...files.keys()].some((path) => path.startsWith(content))) continue;
    const folders = languagesOf(settings, { base: config.folder, content, files });
    const main = textOf(settings.defaultContentLanguage) ?? folders[0]?.language ?? 'en';
    const inSubfolder = settings.defaultContentLanguageInSubdir === true;
    return {
      name: 'Hugo',
      navigation: noNavigation,
      settings: { folders, main, inSubfolder },
      place: (file) => placeOf(file, { folders, main, inSubfolder }),
      includes: {
        markdown: {
          pattern: /^[ \t]*\{\{[<%]\s*include\s+(?:file\s*=\s*)?["`]([^"`\n]{1,500})["`][^\n]*[>%]\}\}[ \t]*$/gm,
          resolve: (target, from) =>
            target.startsWith('/')
              ? folders.map(({ folder }) => folder + target.slice(1))
              : [posix.join(posix.dirname(from), target), ...folders.map(({ folder }) => folder + target)],
        },
      },
      prepare: withoutShortcodes,
    };
  }
  return null;
}

function settingsOf({ file }: ConfigFile): Record<string, unknown> {
  const value = file.path.endsWith('.toml') ? tomlOf(textOfFile(file)) : parseFile(file);
  return isRecord(value) ? value : {};
}

interface ContentFolder {
  folder: string;
  language: string | undefined;
}

/** Returns the folders of content; a language may have its own, below the common one. */
function languagesOf(
  settings: Record<string, unknown>,
  { base, content, files }: { base: string; content: string; files: SourceFiles },
): ContentFolder[] {
  const languages = isRecord(settings.languages) ? Object.entries(settings.languages).slice(0, 100) : [];
  const own = languages.flatMap(([language, value]): ContentFolder[] => {
    const stated = isRecord(value) ? textOf(value.contentDir) : undefined;
    const folder = stated === undefined ? `${content}${language}/` : posix.join(base, stated, '/');
    return [...files.keys()].some((path) => path.startsWith(folder)) ? [{ folder, language }] : [];
  });
  return [...own, { folder: content, language: undefined }];
}

function placeOf(
  { path, values }: LayoutFile,
  { folders, main, inSubfolder }: { folders: ContentFolder[]; main: string; inSubfolder: boolean },
): Place | null {
  const root = folders.find(({ folder }) => path.startsWith(folder));
  if (root === undefined) return null;
  const bare = path.slice(root.folder.length).replace(/\.(?:mdx?|markdown|html?|adoc|asciidoc|rst)$/i, '');
  const suffix = root.language === undefined ? /\.([a-z]{2}(?:-[a-z]{2,4})?)$/i.exec(bare)?.[1] : undefined;
  const segments = (suffix === undefined ? bare : bare.slice(0, -suffix.length - 1)).split('/');
  if (segments.some((segment) => /^_(?!index$)/.test(segment))) return null;
  const language = root.language ?? suffix ?? (folders.length > 1 ? main : undefined);
  const prefix = language === undefined || (language === main && !inSubfolder) ? '' : language;
  const name = segments.at(-1) ?? '';
  const isFolder = name === '_index' || name === 'index';
  const parents = segments.slice(0, isFolder && name === 'index' ? -2 : -1);
  const slug = textOf(values.slug);
  const own = isFolder && name === '_index' ? [] : [slug ?? (isFolder ? (segments.at(-2) ?? '') : name)];
  const url = textOf(values.url);
  const address =
    url !== undefined && !/^[a-z]+:/i.test(url)
      ? [url.startsWith('/') ? '' : prefix, url]
      : [prefix, ...parents, ...own];
  const weight = typeof values.weight === 'number' && values.weight > 0 ? values.weight : undefined;
  return {
    path: addressOf(...address.map((part) => part.toLowerCase().replaceAll(' ', '-'))),
    language,
    order:
      weight === undefined
        ? undefined
        : orderOf([...parents.map(() => undefined), weight], language !== undefined && language !== main),
  };
}

/** Keeps the titles and contents of shortcodes; a reference becomes the path it names. */
function withoutShortcodes(text: string): string {
  return text
    .replace(/\{\{([<%])\/\*([^\n]{0,2000}?)\*\/([>%])\}\}/g, '{\u0000{$1$2$3}}')
    .replace(shortcode, (whole, inner: string) => {
      const words = inner.trim().replace(/\/$/, '');
      if (words.startsWith('/')) return '';
      const name = /^[\w./-]+/.exec(words)?.[0];
      if (name === undefined) return whole;
      const given = words.slice(name.length).trim();
      const first = /^["`]([^"`]*)["`]/.exec(given)?.[1] ?? /^[^\s="`]+(?=\s|$)/.exec(given)?.[0] ?? '';
      if (name === 'ref' || name === 'relref') return first;
      const text = shown.map((part) => part.exec(given)?.[1]).find((found) => found !== undefined);
      if (text !== undefined) return text;
      const title = named.exec(given)?.[1] ?? (/^tab$/i.test(name) ? first : '');
      if (note.test(name))
        return `**${labelOf(/^(?:alert|callout|admonition|hint)$/.test(name) && first !== '' ? first : name, title)}**\n\n`;
      return title === '' ? '' : `**${title}**\n\n`;
    })
    .replaceAll('{\u0000{', '{{');
}
