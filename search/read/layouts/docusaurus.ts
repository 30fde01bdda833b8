import { posix } from 'node:path';
import { isRecord, textOf } from '../front-matter.ts';
import { noNavigation, parseFile } from '../navigation.ts';
import { addressOf, configFilesOf, orderOf, textOfFile } from './config-file.ts';
import type { Layout, LayoutFile, Place, SourceFiles } from './layout.ts';
import { colonBlock, withBlocks } from './markup.ts';

const numbered = /^(\d+)\s*[-_.]+\s*(?=[^-_.\s])(?!\d)/;
const translated = /^i18n\/([^/]+)\/docusaurus-plugin-content-docs(?:-([^/]+))?\/(?:version-)?([^/]+)\/(.*)$/;
const versioned = /^(?:([^/]+)_)?versioned_docs\/version-([^/]+)\/(.*)$/;
const post = /^(?:(\d{4})[-/](\d{2})[-/](\d{2})[-/])?(.*)$/;

interface Root {
  folder: string;
  route: string;
}

/** Docusaurus: `docusaurus.config.js`, of which only plain strings are read. */
export function docusaurusLayout(files: SourceFiles): Layout | null {
  const [config] = configFilesOf(files, /(?:^|\/)docusaurus\.config\.[cm]?[jt]s$/);
  if (config === undefined) return null;
  const { folder: base } = config;
  const roots = rootsOf(textOfFile(config.file), base);
  const known = parseFile(files.get(`${base}versions.json`));
  const versions = Array.isArray(known) ? known.map(String).slice(0, 200) : [];
  const categories = categoriesOf(files);
  return {
    name: 'Docusaurus',
    navigation: noNavigation,
    settings: { roots, versions, categories: [...categories] },
    isMdx: true,
    place: (file) => placeOf(file, { base, roots, versions, categories }),
    prepare: (text) => withBlocks(text, [colonBlock]),
  };
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
  roots: Root[];
  versions: string[];
  categories: ReadonlyMap<string, Category>;
}

function placeOf(file: LayoutFile, { base, roots, versions, categories }: Surroundings): Place | null {
  const { path, values } = file;
  if (path.startsWith(base)) {
    const below = path.slice(base.length);
    const docs = roots.find(({ route }) => route === 'docs') ?? roots[0];
    const [, plugin, version = '', rest] = versioned.exec(below) ?? [];
    if (rest !== undefined)
      return doc(rest, [plugin ?? docs?.route, version === versions[0] ? '' : version], { version });
    const [, locale = '', other, name = '', translation] = translated.exec(below) ?? [];
    if (translation !== undefined) {
      const isCurrent = name === 'current';
      const shown = isCurrent ? (versions.length > 0 ? 'next' : undefined) : name;
      const segment = shown === undefined || shown === versions[0] ? '' : shown;
      return doc(translation, [locale, other ?? docs?.route, segment], { version: shown, language: locale });
    }
    if (below.startsWith('src/pages/')) return doc(below.slice('src/pages/'.length), [], {});
  }
  const root = roots.find(({ folder }) => path.startsWith(folder));
  if (root === undefined) {
    const blog = `${base}blog/`;
    return path.startsWith(blog) ? blogPost(path.slice(blog.length), 'blog') : null;
  }
  const rest = path.slice(root.folder.length);
  if (root.route === 'blog') return blogPost(rest, root.route);
  const isNext = versions.length > 0 && root === (roots.find(({ route }) => route === 'docs') ?? roots[0]);
  return doc(rest, [root.route, isNext ? 'next' : ''], isNext ? { version: 'next' } : {});

  function doc(rest: string, route: (string | undefined)[], place: Omit<Place, 'path'>): Place | null {
    const segments = rest.replace(/\.(?:mdx?|html?)$/i, '').split('/');
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
    // the page of a folder comes first in it
    if (isFolder && positions.some((position) => position !== undefined)) positions[segments.length - 1] ??= 0;
    const groups = parents.flatMap((category) => (category?.label === undefined ? [] : [category.label]));
    return {
      path: addressOf(...route, ...own),
      order: orderOf(positions, place.language !== undefined),
      groups,
      ...place,
    };
  }

  function blogPost(rest: string, route: string): Place | null {
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
