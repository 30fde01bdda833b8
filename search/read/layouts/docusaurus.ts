import { posix } from 'node:path';
import { isRecord, textOf } from '../front-matter.ts';
import { changeProse } from '../markdown-lines.ts';
import { noNavigation, parseFile } from '../navigation.ts';
import { addressOf, configFilesOf, orderInList, orderOf, textOfFile } from './config-file.ts';
import {
  docPartOf,
  sidebarFiles,
  titlesKey,
  translatedTitles,
  versionedSidebars,
  versionKey,
  type DocSidebars,
} from './docusaurus-sidebars.ts';
import type { Layout, LayoutFile, PageLocation, SourceFiles } from './layout.ts';
import { colonBlock, withBlocks } from './markup.ts';
import { scriptValueOf } from './script-values.ts';

const numbered = /^(\d+)\s*[-_.]+\s*(?=[^-_.\s])(?!\d)/;
const translated = /^i18n\/([^/]+)\/docusaurus-plugin-content-docs(?:-([^/]+))?\/(?:version-)?([^/]+)\/(.*)$/;
const versionedDoc = /^(?:([^/]+)_)?versioned_docs\/version-([^/]+)\/(.*)$/;
const extension = /\.(?:mdx?|html?)$/i;
const maxLanguages = 100;
const post = /^(?:(\d{4})[-/](\d{2})[-/](\d{2})[-/])?(.*)$/;

interface Root {
  folder: string;
  route: string;
}

/** Docusaurus: `docusaurus.config.js`, of which only plain strings are read, and `sidebars.js`. */
export function docusaurusLayout(files: SourceFiles): Layout | null {
  const [config] = configFilesOf(files, /(?:^|\/)docusaurus\.config\.[cm]?[jt]s$/);
  if (config === undefined) return null;
  const { folder: base } = config;
  const text = textOfFile(config.file);
  const { choose, unread } = sidebarFiles(files, { base, config: text });
  const roots = rootsOf(text, base).map((root) => ({
    ...root,
    sidebars: choose(() => idsIn(files, root)),
  }));
  const versioned = versionedSidebars(files, base);
  const known = parseFile(files.get(`${base}versions.json`));
  const versions = Array.isArray(known) ? known.map(String).slice(0, 200) : [];
  const categories = categoriesOf(files);
  const titles = translatedTitles(files, base);
  const translations = [...files.keys()].filter((path) => path.startsWith(`${base}i18n/`)).sort();
  const { main, others } = languagesOf(text, { base, translations });
  return {
    name: 'Docusaurus',
    navigation: noNavigation,
    unread,
    settings: {
      roots: roots.map(({ sidebars, ...root }) => [root, partsOf(sidebars)]),
      versioned: [...versioned].map(([key, sidebars]) => [key, partsOf(sidebars)]),
      versions,
      categories: [...categories],
      titles: [...titles].map(([key, labels]) => [key, [...labels]]),
      languages: [main, others, translations],
    },
    isMdx: true,
    locate(file) {
      const location = locationOf(file, { base, roots, versions, categories, versioned, titles });
      if (location === null || location.language !== undefined || others.length === 0) return location;
      const name = translationOf(file.path, { base, roots });
      const shownIn = others.filter((language) => !files.has(`${base}i18n/${language}/${name}`));
      return { ...location, ...(main && { language: main }), ...(shownIn.length > 0 && { shownIn }) };
    },
    prepare: (text, { values }) => withBlocks(withFrontMatter(text, values), [colonBlock]),
  };
}

/** Returns the main language, if the configuration states it, and the others, in which untranslated pages are shown, too. */
function languagesOf(
  config: string,
  { base, translations }: { base: string; translations: readonly string[] },
): { main: string | undefined; others: string[] } {
  const settings = scriptValueOf(config, 'i18n');
  const { defaultLocale, locales }: Record<string, unknown> = isRecord(settings) ? settings : {};
  const main = textOf(defaultLocale);
  const folders = translations.map((path) => /^i18n\/([^/]+)\/docusaurus-plugin-/.exec(path.slice(base.length))?.[1]);
  const names = Array.isArray(locales) ? locales.map(textOf) : folders;
  const others = [...new Set(names)].filter((name) => name !== undefined).filter((name) => name !== main);
  return { main, others: others.slice(0, maxLanguages) };
}

/** Returns the name that the translation of a page has in the folder of a language. */
function translationOf(path: string, { base, roots }: { base: string; roots: Root[] }): string {
  const below = path.startsWith(base) ? path.slice(base.length) : path;
  const [, plugin, version, versioned = ''] = versionedDoc.exec(below) ?? [];
  const docs = 'docusaurus-plugin-content-docs';
  if (version !== undefined)
    return `${plugin === undefined ? docs : `${docs}-${plugin}`}/version-${version}/${versioned}`;
  if (below.startsWith('src/pages/')) return below.replace('src/pages', 'docusaurus-plugin-content-pages');
  const root = roots.find(({ folder }) => path.startsWith(folder));
  if (root === undefined) return below.replace('blog', 'docusaurus-plugin-content-blog');
  const rest = path.slice(root.folder.length);
  if (root.route === 'blog') return `docusaurus-plugin-content-blog/${rest}`;
  const isMain = root === (roots.find(({ route }) => route === 'docs') ?? roots[0]);
  return `${isMain ? docs : `${docs}-${root.route}`}/current/${rest}`;
}

/** Fills in `{frontMatter.title}` outside code. */
function withFrontMatter(text: string, values: Record<string, unknown>): string {
  if (!text.includes('frontMatter.')) return text;
  return changeProse(text, (prose) =>
    prose.replace(/\{\s*frontMatter\.(\w{1,60})\s*\}/g, (whole, name: string) => textOf(values[name]) ?? whole),
  );
}

function idsIn(files: SourceFiles, { folder, route }: Root): ReadonlySet<string> {
  const paths = route === 'blog' ? [] : [...files.keys()].filter((path) => path.startsWith(folder));
  return new Set(paths.map((path) => idOf(path.slice(folder.length).replace(extension, '').split('/'), {})));
}

/** Returns the id by which sidebars name a page. */
function idOf(segments: readonly string[], values: Record<string, unknown>): string {
  const id = textOf(values.id) ?? withoutNumber(segments.at(-1) ?? '');
  return [...segments.slice(0, -1).map(withoutNumber), id].join('/');
}

function partsOf(sidebars: DocSidebars | null): unknown {
  return sidebars === null ? null : [[...sidebars.docs], [...sidebars.folders]];
}

/** Returns the folders of pages, each with its route; the first is that of the documentation. */
function rootsOf(config: string, base: string): Root[] {
  const settings = [...config.matchAll(/\b(path|routeBasePath)\s*:\s*["']([^"'\n]{1,200})["']/g)].slice(0, 100);
  const roots: Root[] = [];
  for (const [at, [, key, value = '']] of settings.entries()) {
    if (key !== 'path') continue;
    const next = settings[at + 1];
    const route = next?.[1] === 'routeBasePath' ? next[2] : undefined;
    const folder = posix.join(base, value, '/').replace(/^(?:\.\.?\/)+/, '');
    roots.push({ folder, route: route ?? (posix.basename(value) === 'blog' ? 'blog' : 'docs') });
  }
  const docs = `${base}docs/`;
  const route = settings.find(([, key]) => key === 'routeBasePath')?.[2];
  return roots.some((root) => root.route === 'docs' || root.folder === docs)
    ? roots
    : [{ folder: docs, route: roots.length === 0 ? (route ?? 'docs') : 'docs' }, ...roots];
}

type Category = { label?: string; position?: number };

function categoriesOf(files: SourceFiles): Map<string, Category> {
  const categories = new Map<string, Category>();
  for (const file of files.values()) {
    if (!/(?:^|\/)_category_\.(?:json|ya?ml)$/.test(file.path)) continue;
    const value = parseFile(file);
    if (!isRecord(value)) continue;
    const position = typeof value.position === 'number' ? value.position : undefined;
    categories.set(posix.dirname(file.path), { label: textOf(value.label), position });
  }
  return categories;
}

interface Surroundings {
  base: string;
  roots: (Root & { sidebars: DocSidebars | null })[];
  versions: string[];
  categories: ReadonlyMap<string, Category>;
  /** The sidebars of versions. */
  versioned: ReadonlyMap<string, DocSidebars>;
  /** Translated labels of categories. */
  titles: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

function locationOf(file: LayoutFile, surroundings: Surroundings): PageLocation | null {
  const { base, roots, versions, categories, versioned, titles } = surroundings;
  const { path, values } = file;
  if (path.startsWith(base)) {
    const below = path.slice(base.length);
    const docs = roots.find(({ route }) => route === 'docs') ?? roots[0];
    const [, plugin, version = '', rest] = versionedDoc.exec(below) ?? [];
    if (rest !== undefined)
      return doc(rest, [plugin ?? docs?.route, version === versions[0] ? '' : version], {
        location: { version },
        sidebars: versioned.get(versionKey(version, plugin)),
      });
    const [, locale = '', other, name = '', translation] = translated.exec(below) ?? [];
    if (translation !== undefined) {
      const isCurrent = name === 'current';
      const shown = isCurrent ? (versions.length > 0 ? 'next' : undefined) : name;
      const segment = shown === undefined || shown === versions[0] ? '' : shown;
      const current = other === undefined ? docs : roots.find(({ route }) => route === other);
      return doc(translation, [locale, other ?? docs?.route, segment], {
        location: { version: shown, language: locale },
        sidebars: isCurrent ? current?.sidebars : versioned.get(versionKey(name, other)),
        labels: titles.get(titlesKey(locale, name, other)),
      });
    }
    if (below.startsWith('src/pages/')) return doc(below.slice('src/pages/'.length), []);
  }
  const root = roots.find(({ folder }) => path.startsWith(folder));
  if (root === undefined) {
    const blog = `${base}blog/`;
    return path.startsWith(blog) ? blogPost(path.slice(blog.length), 'blog') : null;
  }
  const rest = path.slice(root.folder.length);
  if (root.route === 'blog') return blogPost(rest, root.route);
  const isNext = versions.length > 0 && root === (roots.find(({ route }) => route === 'docs') ?? roots[0]);
  return doc(rest, [root.route, isNext ? 'next' : ''], {
    location: isNext ? { version: 'next' } : {},
    sidebars: root.sidebars,
  });

  function doc(
    rest: string,
    route: (string | undefined)[],
    {
      location = {},
      sidebars,
      labels,
    }: {
      location?: Omit<PageLocation, 'path'>;
      sidebars?: DocSidebars | null;
      labels?: ReadonlyMap<string, string>;
    } = {},
  ): PageLocation | null {
    const segments = rest.replace(extension, '').split('/');
    if (segments.some((segment) => segment.startsWith('_'))) return null;
    const folders = segments.slice(0, -1).map(withoutNumber);
    const fileName = withoutNumber(segments.at(-1) ?? '');
    const isFolder = /^(?:index|readme)$/i.test(fileName) || fileName.toLowerCase() === folders.at(-1)?.toLowerCase();
    const name = textOf(values.id)?.split('/').at(-1) ?? (isFolder ? '' : fileName);
    const slug = textOf(values.slug);
    const own = slug === undefined ? [...folders, name] : slug.startsWith('/') ? [slug] : [...folders, slug];
    const parents = segments.slice(0, -1).map((_, at) => categories.get(parentOf(path, segments.length - 1 - at)));
    const positions = segments.map((segment, at) =>
      at < segments.length - 1
        ? (parents[at]?.position ?? numberOf(segment))
        : (positionOf(values) ?? numberOf(segment)),
    );
    const part = sidebars == null ? null : docPartOf(idOf(segments, values), segments.slice(0, -1), sidebars);
    // the page of a folder comes first in it
    if (isFolder && (part !== null || positions.some((position) => position !== undefined)))
      positions[segments.length - 1] ??= 0;
    const isTranslation = location.language !== undefined;
    const depth = part === null ? 0 : (part.depth ?? segments.length);
    // pages beside the documentation are in no sidebar; a folder without a label is shown by its name
    const inside =
      route.length > 0 ? parents.slice(depth).map((parent, at) => parent?.label ?? folders[depth + at] ?? '') : [];
    return {
      path: addressOf(...route, ...own),
      order:
        part === null ? orderOf(positions, isTranslation) : orderInList(part.at, positions.slice(depth), isTranslation),
      groups: [...(part?.groups ?? []), ...inside].map((label) => labels?.get(label) ?? label),
      ...location,
    };
  }

  function blogPost(rest: string, route: string): PageLocation | null {
    const [, year, month, day, name = ''] = post.exec(rest.replace(/(?:\/index)?\.mdx?$/i, '')) ?? [];
    const slug = textOf(values.slug);
    return { path: addressOf(route, ...(slug === undefined ? [year, month, day, name] : [slug])) };
  }
}

function parentOf(path: string, levels: number): string {
  return path.split('/').slice(0, -levels).join('/');
}

function withoutNumber(segment: string): string {
  return segment.replace(numbered, '');
}

function numberOf(segment: string): number | undefined {
  const match = numbered.exec(segment);
  return match === null ? undefined : Number(match[1]);
}

function positionOf(values: Record<string, unknown>): number | undefined {
  return typeof values.sidebar_position === 'number' ? values.sidebar_position : undefined;
}
