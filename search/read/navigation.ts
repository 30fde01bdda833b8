import { isRecord, parseYaml, textOf, tomlOf } from './front-matter.ts';
import { pathOf } from './paths.ts';
import type { SourceFile } from './source-file.ts';

interface NavigationEntry {
  order: number;
  language?: string;
  version?: string;
  groups: string[];
  isHidden: boolean;
  boost: number;
}

export interface Navigation {
  /** By page path, or `METHOD /path` for an operation of an OpenAPI file. */
  entries: Map<string, NavigationEntry>;
  /** Languages with a part of the navigation; the first is the site's main one. */
  languages: string[];
  versions: string[];
}

type Context = Omit<NavigationEntry, 'order'>;

const branches = [
  'languages',
  'versions',
  'products',
  'dropdowns',
  'tabs',
  'anchors',
  'menu',
  'groups',
  'root',
  'pages',
];
const maxDepth = 30;

export const noNavigation: Navigation = { entries: new Map(), languages: [], versions: [] };

/** Reads the navigation of a site from a list of pages that several tools share; empty where there is none. */
export function readNavigation(files: ReadonlyMap<string, SourceFile>): Navigation {
  for (const name of ['_sidebar.md', 'SUMMARY.md', 'src/SUMMARY.md']) {
    const links = linksIn(readConfig(files.get(name)));
    if (links.length > 0) return fromPaths(links, name.startsWith('src/') ? 'src' : '', files);
  }
  return noNavigation;
}

/** Returns the navigation of Mintlify's `docs.json` or `mint.json`. */
export function navigationFromTree(tree: unknown, files: ReadonlyMap<string, SourceFile>): Navigation {
  const navigation: Navigation = { entries: new Map(), languages: [], versions: [] };
  const visit = (node: unknown, context: Context, depth: number): void => {
    if (depth > maxDepth) return;
    if (Array.isArray(node)) {
      const isDefault = (entry: unknown) => isRecord(entry) && entry.default === true;
      for (const entry of [...node.filter(isDefault), ...node.filter((item) => !isDefault(item))])
        visit(entry, context, depth + 1);
      return;
    }
    if (typeof node === 'string') {
      const path = /^[A-Z]{3,7} \//.test(node) ? node : pathOf(node);
      if (!navigation.entries.has(path)) navigation.entries.set(path, { ...context, order: navigation.entries.size });
      return;
    }
    if (!isRecord(node)) return;
    const reference = textOf(node.$ref);
    if (reference !== undefined) visit(parseFile(files.get(reference.replace(/^\.?\//, ''))), context, depth + 1);
    const inner = contextOf(node, context);
    if (inner.language !== undefined && !navigation.languages.includes(inner.language))
      navigation.languages.push(inner.language);
    if (inner.version !== undefined && !navigation.versions.includes(inner.version))
      navigation.versions.push(inner.version);
    for (const branch of branches) if (branch in node) visit(node[branch], inner, depth + 1);
  };
  visit(tree, { groups: [], isHidden: false, boost: 1 }, 0);
  return navigation;
}

function contextOf(node: Record<string, unknown>, context: Context): Context {
  const group = textOf(node.group);
  return {
    language: textOf(node.language) ?? context.language,
    version: textOf(node.version) ?? context.version,
    groups: group === undefined ? context.groups : [...context.groups, group],
    isHidden: context.isHidden || node.hidden === true,
    boost: typeof node.boost === 'number' ? node.boost : context.boost,
  };
}

function fromPaths(paths: string[], folder: string, files: ReadonlyMap<string, SourceFile>): Navigation {
  const entries = new Map<string, NavigationEntry>();
  for (const path of paths) {
    const inFolder = folder === '' ? path : `${folder}/${path}`;
    const key = pathOf(files.has(path) ? path : inFolder);
    if (!entries.has(key)) entries.set(key, { order: entries.size, groups: [], isHidden: false, boost: 1 });
  }
  return { entries, languages: [], versions: [] };
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^()\s]{1,300}?\.mdx?|[^():.\s]{1,300})\)/g)].map((match) =>
    (match[1] ?? '').replace(/^\.?\//, ''),
  );
}

export function readConfig(file: SourceFile | undefined): string {
  return file === undefined ? '' : file.read().slice(0, 4_000_000);
}

/** Returns the value of a YAML, TOML or JSON file; undefined if it is missing or malformed. */
export function parseFile(file: SourceFile | undefined): unknown {
  if (file?.path.endsWith('.toml') === true) return tomlOf(readConfig(file));
  if (file?.path.endsWith('.json') !== true) return parseConfig(file);
  try {
    return JSON.parse(readConfig(file));
  } catch {
    return undefined;
  }
}

/** Returns the value of a YAML file after a correction of its text. */
export function parseConfig(file: SourceFile | undefined, correct = (text: string) => text): unknown {
  const text = readConfig(file);
  return text === '' ? undefined : parseYaml(correct(text));
}
