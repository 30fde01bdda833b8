import { posix } from 'node:path';
import { isRecord, textOf, tomlOf } from '../front-matter.ts';
import { noNavigation, parseFile } from '../navigation.ts';
import { addressOf, configFilesOf, orderOf, textOfFile, type ConfigFile } from './config-file.ts';
import type { Layout, LayoutFile, PageLocation, SourceFiles } from './layout.ts';
import { hugoIncludes } from './hugo-includes.ts';
import { isSection, sectionsAbove, sectionsOf, weightOf, type HugoSections } from './hugo-sections.ts';
import { withoutShortcodes } from './hugo-shortcodes.ts';

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
    const params = paramsOf(settings, config, files);
    const headings = headingsOf(files, config.folder);
    const names = folders.map(({ folder }) => folder);
    const sections = sectionsOf(files, names);
    const version = textOf(params.version);
    const inSubfolder = settings.defaultContentLanguageInSubdir === true;
    return {
      name: 'Hugo',
      navigation: noNavigation,
      settings: {
        folders,
        main,
        inSubfolder,
        params,
        sections: [...sections],
        headings: [...headings].map(([name, texts]) => [name, ...texts]),
      },
      locate: (file) => locationOf(file, { folders, main, inSubfolder, sections, version }),
      // the titles and weights of sections apply to all pages below
      isNavigation: isSection,
      includes: { markdown: hugoIncludes(files, names) },
      prepare: (text, { path }) =>
        withoutShortcodes(text, {
          params,
          headings: headings.get(languageOf(path, folders) ?? main) ?? headings.get(main) ?? new Map(),
        }),
    };
  }
  return null;
}

function settingsOf({ file }: ConfigFile): Record<string, unknown> {
  const value = file.path.endsWith('.toml') ? tomlOf(textOfFile(file)) : parseFile(file);
  return isRecord(value) ? value : {};
}

function paramsOf(
  settings: Record<string, unknown>,
  { file, folder }: ConfigFile,
  files: SourceFiles,
): Record<string, unknown> {
  if (isRecord(settings.params)) return settings.params;
  const path = ['toml', 'yaml', 'yml', 'json'].map((end) => `${posix.dirname(file.path)}/params.${end}`);
  const found = path.map((each) => files.get(each)).find((each) => each !== undefined);
  return found === undefined ? {} : settingsOf({ file: found, folder });
}

/** Returns the texts of the headings that pages name, by language: of `whatsnext_heading` under `whatsnext`. */
function headingsOf(files: SourceFiles, base: string): Map<string, Map<string, string>> {
  const headings = new Map<string, Map<string, string>>();
  for (const file of files.values()) {
    const language = file.path.startsWith(`${base}i18n/`)
      ? /\/([\w-]+)\.(?:toml|ya?ml)$/.exec(file.path)?.[1]?.toLowerCase()
      : undefined;
    if (language === undefined) continue;
    const texts = Object.entries(settingsOf({ file, folder: base })).flatMap(([key, value]): [string, string][] => {
      const text = isRecord(value) ? textOf(value.other) : textOf(value);
      return key.endsWith('_heading') && text !== undefined ? [[key.slice(0, -'_heading'.length), text]] : [];
    });
    if (texts.length > 0) headings.set(language, new Map(texts));
  }
  return headings;
}

function languageOf(path: string, folders: readonly ContentFolder[]): string | undefined {
  return folders.find(({ folder }) => path.startsWith(folder))?.language;
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

interface Surroundings {
  folders: ContentFolder[];
  main: string;
  inSubfolder: boolean;
  sections: HugoSections;
  version: string | undefined;
}

function locationOf(
  { path, values }: LayoutFile,
  { folders, main, inSubfolder, sections, version }: Surroundings,
): PageLocation | null {
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
  const above = sectionsAbove(parents, { content: root.folder, language: suffix, sections });
  const isOfSection = name === '_index';
  const positions = [...above.map((section) => section?.weight), ...(isOfSection ? [] : [weightOf(values)])];
  const groups = (isOfSection ? above.slice(0, -1) : above).flatMap((section) => section?.title ?? []);
  return {
    path: addressOf(...address.map((part) => part.toLowerCase().replaceAll(' ', '-'))),
    language,
    version,
    groups,
    order: orderOf(positions, language !== undefined && language !== main),
  };
}
