import { posix } from 'node:path';
import { isRecord, textOf } from '../../front-matter.ts';
import { noNavigation, parseFile } from '../../navigation.ts';
import type { SourceFile } from '../../source-file.ts';
import { addressOf, configFilesOf, orderOf } from '../config-file.ts';
import type { Layout, LayoutFile, PageLocation, SourceFiles } from '../layout.ts';
import { contentFolders, placeOf, type ContentFolder, type HugoContent } from './content.ts';
import { hugoIncludes } from './includes.ts';
import { menuPartOf, readMenu, type HugoMenu } from './menus.ts';
import { isSection, sectionsAbove, sectionsOf, weightOf, type HugoSections } from './sections.ts';
import { withoutShortcodes } from './shortcodes.ts';

/** Hugo: `hugo.toml` or an older `config.*` beside a folder of content. */
export function hugoLayout(files: SourceFiles): Layout | null {
  const configs = configFilesOf(files, /(?:^|\/)(?:config\/_default\/)?(?:hugo|config)\.(?:toml|ya?ml|json)$/);
  for (const { file, folder: base } of configs) {
    const settings = settingsOf(file);
    const top = posix.join(base, textOf(settings.contentDir) ?? 'content', '/');
    const isHugo = /hugo\.\w+$/.test(file.path) || ['baseURL', 'languages', 'module'].some((key) => key in settings);
    if (!isHugo || ![...files.keys()].some((path) => path.startsWith(top))) continue;
    const languages = settingOf('languages', settings, { base, files });
    const folders = contentFolders(languages, { base, content: top, files });
    const main = textOf(settings.defaultContentLanguage) ?? folders[0]?.language ?? 'en';
    const content = { folders, main };
    const params = settingOf('params', settings, { base, files });
    const headings = headingsOf(files, base);
    const names = folders.map(({ folder }) => folder);
    const sections = sectionsOf(files, names);
    const menu = readMenu(files, { content, menusIn: menusBy(settings, languages, { base, files }) });
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
        menu: [...menu],
        headings: [...headings].map(([name, texts]) => [name, ...texts]),
      },
      locate: (page) => locationOf(page, { content, inSubfolder, sections, menu, version }),
      // the titles and weights of sections apply to all pages below, and menus to all
      isNavigation: ({ path, values }) => isSection(path) || 'menu' in values || 'menus' in values,
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

function settingsOf(file: SourceFile | undefined): Record<string, unknown> {
  const value = parseFile(file);
  return isRecord(value) ? value : {};
}

interface Project {
  /** The folder of the project. */
  base: string;
  files: SourceFiles;
}

/** Returns a table of the settings, which may be its own file. */
function settingOf(name: string, settings: Record<string, unknown>, { base, files }: Project): Record<string, unknown> {
  const stated = settings[name];
  if (isRecord(stated)) return stated;
  const paths = ['toml', 'yaml', 'yml', 'json'].map((end) => `${base}config/_default/${name}.${end}`);
  return settingsOf(paths.map((path) => files.get(path)).find((file) => file !== undefined));
}

/** Returns a function that finds the menus of a language, which replace those of all languages. */
function menusBy(
  settings: Record<string, unknown>,
  languages: Record<string, unknown>,
  project: Project,
): (language: string) => unknown {
  const inFiles = (end: string) =>
    ['menus', 'menu', 'menus/menus', 'menu/menu'].map((name) => settingOf(`${name}${end}`, {}, project));
  const menusIn = (value: unknown) => (isRecord(value) ? (value.menus ?? value.menu) : undefined);
  return (language) =>
    [menusIn(languages[language]), ...inFiles(`.${language}`), menusIn(settings), ...inFiles('')].find(
      (menus) => isRecord(menus) && Object.keys(menus).length > 0,
    );
}

/** Returns the texts of the headings that pages name, by language: of `whatsnext_heading` under `whatsnext`. */
function headingsOf(files: SourceFiles, base: string): Map<string, Map<string, string>> {
  const headings = new Map<string, Map<string, string>>();
  for (const file of files.values()) {
    const language = file.path.startsWith(`${base}i18n/`)
      ? /\/([\w-]+)\.(?:toml|ya?ml)$/.exec(file.path)?.[1]?.toLowerCase()
      : undefined;
    if (language === undefined) continue;
    const texts = Object.entries(settingsOf(file)).flatMap(([key, value]): [string, string][] => {
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

interface Surroundings {
  content: HugoContent;
  inSubfolder: boolean;
  sections: HugoSections;
  menu: HugoMenu;
  version: string | undefined;
}

function locationOf(
  { path, values }: LayoutFile,
  { content, inSubfolder, sections, menu, version }: Surroundings,
): PageLocation | null {
  const place = placeOf(path, content);
  if (place === null) return null;
  const { root, language, suffix, name } = place;
  const prefix = language === undefined || (language === content.main && !inSubfolder) ? '' : language;
  const own = name === null ? [] : [textOf(values.slug) ?? name];
  const url = textOf(values.url);
  const address =
    url !== undefined && !/^[a-z]+:/i.test(url)
      ? [url.startsWith('/') ? '' : prefix, url]
      : [prefix, ...place.sections, ...own];
  const above = sectionsAbove(place.sections, { content: root.folder, language: suffix, sections });
  const weights = [...above.map((section) => section?.weight), ...(name === null ? [] : [weightOf(values)])];
  const titles = (name === null ? above.slice(0, -1) : above).map((section) => section?.title);
  const listed = menuPartOf(place, menu);
  // what no menu has comes last
  const [positions, groups] =
    listed === null
      ? [[...(menu.size > 0 ? [undefined] : []), ...weights], titles]
      : [
          [...listed.positions, ...weights.slice(listed.depth)],
          [...listed.groups, ...titles.slice(Math.max(0, listed.depth - 1))],
        ];
  return {
    path: addressOf(...address.map((part) => part.toLowerCase().replaceAll(' ', '-'))),
    language,
    version,
    groups: groups.filter((title) => title !== undefined),
    order: orderOf(positions, language !== undefined && language !== content.main),
  };
}
