import { isRecord, textOf } from '../front-matter.ts';
import { pathOf } from '../paths.ts';
import { configFilesOf, textOfFile } from './config-file.ts';
import type { SourceFiles } from './layout.ts';
import { scriptValueOf } from './script-values.ts';

const maxDepth = 10;
const maxFiles = 50;
const maxPages = 20_000;

/** A page's position in the sidebars, and the titles of the groups around it. */
interface Listed {
  at: number;
  groups: string[];
  /** The page is in the list for its own folder, which is the sidebar that it shows. */
  isOwn: boolean;
}

interface Surroundings {
  groups: string[];
  /** Start of the links. */
  base: string;
  /** Start of the addresses of the pages for which the list is. */
  folder: string;
}

/**
 * Reads the sidebars of VitePress by the addresses of their pages: that of `config`, then those of other files beside it and
 * of the configurations in folders of pages, of which `top` is the uppermost.
 */
export function readSidebars(files: SourceFiles, folder: string, top: string): ReadonlyMap<string, Listed> {
  const listed = new Map<string, Listed>();
  const configs = configFilesOf(files, /(?:^|\/)\.vitepress\/(?:config\/(?:[\w-]+\/)?)?[\w.-]+\.[cm]?[jt]s$/)
    .filter((config) => config.folder === folder)
    .sort((a, b) => rankOf(a.file.path) - rankOf(b.file.path) || (a.file.path < b.file.path ? -1 : 1))
    .map(({ file }) => file);
  const additional = configFilesOf(files, /(?:^|\/)config\.[cm]?[jt]s$/)
    .map(({ file }) => file)
    .filter((file) => file.path.startsWith(top) && textOfFile(file).includes('defineAdditionalConfig'));
  for (const file of [...configs, ...additional].slice(0, maxFiles)) {
    const text = textOfFile(file);
    const locales = scriptValueOf(text, 'locales');
    const localized = isRecord(locales) ? Object.values(locales).map(sidebarOf) : [];
    for (const sidebar of [scriptValueOf(text, 'sidebar'), ...localized]) addSidebar(listed, sidebar);
  }
  return listed;
}

function rankOf(path: string): number {
  return /config(?:\/index)?\.\w+$/.test(path) ? 0 : 1;
}

export function listedIn(listed: ReadonlyMap<string, Listed>, page: string): Listed | undefined {
  return listed.get(withoutIndex(page));
}

function sidebarOf(locale: unknown): unknown {
  return isRecord(locale) && isRecord(locale.themeConfig) ? locale.themeConfig.sidebar : undefined;
}

/** Adds the pages of one list, or of a list for each folder. */
function addSidebar(listed: Map<string, Listed>, sidebar: unknown): void {
  const lists: [folder: string, list: unknown][] = isRecord(sidebar) ? Object.entries(sidebar) : [['/', sidebar]];
  for (const [folder, list] of lists) {
    const base = isRecord(list) ? (textOf(list.base) ?? '') : '';
    visit(isRecord(list) ? list.items : list, { groups: [], base, folder }, 0);
  }

  function visit(items: unknown, { groups, base, folder }: Surroundings, depth: number): void {
    if (!Array.isArray(items) || depth > maxDepth) return;
    for (const item of items) {
      if (!isRecord(item)) continue;
      const ownBase = textOf(item.base) ?? base;
      const link = textOf(item.link);
      if (link !== undefined && !/^[a-z]+:/i.test(link)) add(ownBase + link, { groups, folder });
      const title = textOf(item.text);
      visit(
        item.items,
        { groups: title === undefined ? groups : [...groups, title], base: ownBase, folder },
        depth + 1,
      );
    }
  }

  function add(link: string, { groups, folder }: Omit<Surroundings, 'base'>): void {
    const page = withoutIndex(pathOf(link));
    const isOwn = `/${page}/`.startsWith(`${folder.replace(/^\/?/, '/').replace(/\/$/, '')}/`);
    const known = listed.get(page);
    if (known === undefined ? listed.size < maxPages : isOwn && !known.isOwn)
      listed.set(page, { at: known?.at ?? listed.size, groups, isOwn });
  }
}

function withoutIndex(page: string): string {
  return page.replace(/\/index$/, '');
}
