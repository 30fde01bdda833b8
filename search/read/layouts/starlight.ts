import { slugOf } from '../anchors.ts';
import { isRecord, textOf } from '../front-matter.ts';
import { noNavigation, parseFile } from '../navigation.ts';
import { addressOf, configFilesOf, languageFolders, literalOf, orderOf, textOfFile } from './config-file.ts';
import type { Layout, LayoutFile, PageLocation, SourceFiles } from './layout.ts';
import { colonBlock, withBlocks } from './markup.ts';
import { scriptValueOf, unreadSpread } from './script-values.ts';
import { partOf, sidebarOf, type Sidebar } from './starlight-sidebar.ts';

const maxVersions = 200;
const extension = /\.(?:mdx?|markdown)$/i;

/** Starlight: `astro.config.*` that uses it, of which only literals are read. */
export function starlightLayout(files: SourceFiles): Layout | null {
  const configs = configFilesOf(files, /(?:^|\/)astro\.config\.[cm]?[jt]s$/);
  const config = configs.find(({ file }) => textOfFile(file).includes('@astrojs/starlight'));
  if (config === undefined) return null;
  const text = textOfFile(config.file);
  const top = `${config.folder}src/content/docs/`;
  const locales = scriptValueOf(text, 'locales');
  const stated = isRecord(locales)
    ? Object.keys(locales).filter((name) => name !== 'root' && name !== unreadSpread)
    : null;
  const folders = stated?.slice(0, 100) ?? languageFolders(files, top);
  const listed = scriptValueOf(text, 'sidebar');
  const versions = versionsOf(text, { files, folder: config.folder });
  const surroundings = {
    files,
    top,
    folders,
    main: mainLanguageOf(text, locales),
    sidebar: sidebarOf(listed),
    current: versions.length === 0 ? undefined : currentVersionOf(text),
    versions: new Map(versions.map(([name, sidebar]) => [name, sidebarOf(sidebar)])),
  };
  const pages = folders.length === 0 ? [] : [...files.keys()].filter((path) => path.startsWith(top)).sort();
  return {
    name: 'Starlight',
    navigation: noNavigation,
    settings: { top, folders, main: surroundings.main, listed, pages, versions, current: surroundings.current },
    locate: (file) => locationOf(file, surroundings),
    prepare: (source) => withBlocks(source, [colonBlock]),
  };
}

/** Returns the versions of the plugin starlight-versions, each with its own sidebar. */
function versionsOf(
  text: string,
  { files, folder }: { files: SourceFiles; folder: string },
): [name: string, sidebar: unknown][] {
  const stated = text.includes('starlight-versions') ? scriptValueOf(text, 'versions') : undefined;
  if (!Array.isArray(stated)) return [];
  return stated.slice(0, maxVersions).flatMap((version: unknown): [string, unknown][] => {
    const name = isRecord(version) ? textOf(version.slug)?.replaceAll('/', '') : undefined;
    if (name === undefined) return [];
    const settings = parseFile(files.get(`${folder}src/content/versions/${name}.json`));
    return [[name, isRecord(settings) ? settings.sidebar : undefined]];
  });
}

function currentVersionOf(text: string): string | undefined {
  const current = scriptValueOf(text, 'current');
  return isRecord(current) ? textOf(current.label) : undefined;
}

function mainLanguageOf(text: string, locales: unknown): string {
  const root = isRecord(locales) && isRecord(locales.root) ? textOf(locales.root.lang) : undefined;
  const fallback = literalOf(text, 'defaultLocale');
  return root ?? (fallback === 'root' ? undefined : fallback) ?? literalOf(text, 'lang')?.split('-')[0] ?? 'en';
}

interface Surroundings {
  files: SourceFiles;
  top: string;
  folders: string[];
  main: string;
  sidebar: Sidebar | null;
  /** The version of pages that are in none of the folders of versions. */
  current: string | undefined;
  versions: ReadonlyMap<string, Sidebar | null>;
}

function locationOf({ path, values }: LayoutFile, surroundings: Surroundings): PageLocation | null {
  const { files, top, folders, main, sidebar, current, versions } = surroundings;
  if (!path.startsWith(top)) return null;
  const segments = path.slice(top.length).replace(extension, '').split('/');
  if (segments.some((segment) => segment.startsWith('_')) || segments.at(-1) === '404') return null;
  const [first = ''] = segments;
  const isInFolder = folders.includes(first);
  const language = folders.length === 0 ? undefined : isInFolder ? first : main;
  const below = isInFolder ? segments.slice(1) : segments;
  const version = versions.has(below[0] ?? '') ? below[0] : undefined;
  const missing = language === main ? folders.filter((name) => name !== main && !isTranslated(name)) : [];
  const slug = textOf(values.slug);
  const own = segments.filter((segment, at) => at < segments.length - 1 || segment !== 'index').map(slugOf);
  const address = addressOf(...(slug === undefined ? own : [slug]));
  return {
    path: address,
    language,
    version: version ?? current,
    ...(missing.length > 0 && { shownIn: missing }),
    ...sorted(addressOf(...address.split('/').slice((isInFolder ? 1 : 0) + (version === undefined ? 0 : 1))), {
      segments: version === undefined ? below : below.slice(1),
      position: isRecord(values.sidebar) && typeof values.sidebar.order === 'number' ? values.sidebar.order : undefined,
      language,
      isLast: version !== undefined || (language !== undefined && language !== main),
      sidebar: version === undefined ? sidebar : (versions.get(version) ?? null),
    }),
  };

  function isTranslated(name: string): boolean {
    const stem = `${top}${name}/${below.join('/')}`;
    return ['.mdx', '.md', '.markdown'].some((extension) => files.has(stem + extension));
  }
}

interface Sorted {
  /** The path of its file without language. */
  segments: string[];
  position: number | undefined;
  language: string | undefined;
  /** It is a translation or of an older version. */
  isLast: boolean;
  sidebar: Sidebar | null;
}

/** Returns the position of a page in the sidebar and the groups that it is in there. */
function sorted(
  page: string,
  { segments, position, language = '', isLast, sidebar }: Sorted,
): Pick<PageLocation, 'order' | 'groups'> {
  const inFolders = (names: string[]) => [...names.map(() => undefined), position];
  if (sidebar === null)
    return { order: position === undefined ? undefined : orderOf(inFolders(segments.slice(1)), isLast) };
  const part = partOf(page, sidebar);
  if (part === null) return {};
  const inside = part.folder === null ? [] : segments.slice(part.folder.split('/').length, -1);
  return {
    order: orderOf([...part.positions, ...(part.folder === null ? [] : inFolders(inside))], isLast),
    groups: [...part.groups.map((titles) => titles.get(language) ?? titles.get('') ?? ''), ...inside],
  };
}
