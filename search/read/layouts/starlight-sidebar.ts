import { isRecord, textOf } from '../front-matter.ts';
import { addressOf } from './config-file.ts';

const maxDepth = 10;

/** A part of the sidebar: a page or a folder of pages. */
export interface SidebarPart {
  /** Its positions, from the top down. */
  positions: number[];
  /** Titles of the groups around it, by language; those of the main language under the empty string. */
  groups: ReadonlyMap<string, string>[];
}

export interface Sidebar {
  pages: Map<string, SidebarPart>;
  /** Folders whose pages are listed by their own order and names. */
  folders: Map<string, SidebarPart>;
}

/** Reads the `sidebar` of Starlight; null if none is written as literals. */
export function sidebarOf(value: unknown): Sidebar | null {
  const sidebar: Sidebar = { pages: new Map(), folders: new Map() };
  visit(value, { positions: [], groups: [] });
  return sidebar.pages.size + sidebar.folders.size === 0 ? null : sidebar;

  function visit(entries: unknown, { positions, groups }: SidebarPart): void {
    if (!Array.isArray(entries) || positions.length >= maxDepth) return;
    for (const [at, entry] of entries.entries()) {
      const own = [...positions, at + 1];
      if (typeof entry === 'string') add(sidebar.pages, entry, { positions: own, groups });
      if (!isRecord(entry)) continue;
      const page = textOf(entry.slug) ?? textOf(entry.link);
      if (page !== undefined && !/^[a-z]+:/i.test(page)) add(sidebar.pages, page, { positions: own, groups });
      const label = textOf(entry.label);
      const within = label === undefined ? groups : [...groups, titlesOf(label, entry.translations)];
      const folder = isRecord(entry.autogenerate) ? textOf(entry.autogenerate.directory) : undefined;
      if (folder !== undefined) add(sidebar.folders, folder, { positions: own, groups: within });
      visit(entry.items, { positions: own, groups: within });
    }
  }
}

function add(parts: Map<string, SidebarPart>, name: string, part: SidebarPart): void {
  const address = addressOf(name.split(/[?#]/, 1)[0]);
  if (!parts.has(address)) parts.set(address, part);
}

function titlesOf(label: string, translations: unknown): ReadonlyMap<string, string> {
  const entries = isRecord(translations) ? Object.entries(translations) : [];
  const translated = entries.flatMap(([language, title]): [string, string][] => {
    const text = textOf(title);
    return text === undefined ? [] : [[language.toLowerCase(), text]];
  });
  return new Map([['', label], ...translated]);
}

/** Returns the part of the sidebar that lists a page, by its address without language. */
export function partOf(page: string, { pages, folders }: Sidebar): (SidebarPart & { folder: string | null }) | null {
  const own = pages.get(page);
  if (own !== undefined) return { ...own, folder: null };
  const names = page.split('/');
  for (let length = names.length; length > 0; length -= 1) {
    const folder = names.slice(0, length).join('/');
    const part = folders.get(folder);
    if (part !== undefined) return { ...part, folder };
  }
  return null;
}
