import { formatOf } from '../../formats/format-of.ts';
import { isRecord, listOf, readIncludedPage, textOf } from '../../front-matter.ts';
import { pathOf } from '../../paths.ts';
import type { SourceFile } from '../../source-file.ts';
import { textOfFile } from '../config-file.ts';
import { namesOf, placeOf, type HugoContent, type HugoPlace } from './content.ts';
import type { SourceFiles } from '../layout.ts';

const maxDepth = 10;
const maxMenus = 50;
const maxEntries = 10_000;
const statesMenu = /^[ \t]*\[{0,2}["']?menus?\b/m;

/** The position of a page in the menu, from the top down, and the names of the entries around it. */
interface MenuPart {
  positions: number[];
  groups: string[];
}

/** The menu that is the navigation of a site: its pages by language and name. Empty if there is none. */
export type HugoMenu = ReadonlyMap<string, MenuPart>;

interface MenuEntry {
  menu: string;
  /** By which the entries below name it as their parent. */
  id: string | undefined;
  title: string | undefined;
  parent: string | undefined;
  weight: number;
  /** Key of the page that it leads to. */
  page: string | undefined;
}

interface Page {
  file: SourceFile;
  place: HugoPlace;
  key: string;
}

/**
 * Reads the menus of front matter and of the configuration, `menusIn` a language. The navigation is the menu that names the
 * most pages, among those that contain more than half of all pages, by themselves or by a section.
 */
export function readMenu(
  files: SourceFiles,
  { content, menusIn }: { content: HugoContent; menusIn(language: string): unknown },
): HugoMenu {
  const pages = [...files.values()].flatMap((file): Page[] => {
    const place = formatOf(file.path) === null ? null : placeOf(file.path, content);
    return place === null ? [] : [{ file, place, key: keyOf(place.language, namesOf(place)) }];
  });
  const menus = new Map<string, Map<string, MenuPart>>();
  for (const [language, own] of Map.groupBy(pages, ({ place }) => place.language)) {
    const entries = [...configured(menusIn(language ?? content.main), language), ...own.flatMap(statedBy)];
    for (const [menu, found] of Map.groupBy(entries.slice(0, maxEntries), (entry) => entry.menu)) {
      const parts = menus.get(menu) ?? new Map<string, MenuPart>();
      addParts(parts, found);
      menus.set(menu, parts);
    }
  }
  const [best] = [...menus.values()]
    .slice(0, maxMenus)
    .filter((menu) => pages.filter(({ place }) => menuPartOf(place, menu) !== null).length * 2 > pages.length)
    .map((menu) => ({ menu, named: pages.filter(({ key }) => menu.has(key)).length }))
    .toSorted((a, b) => b.named - a.named);
  return best?.menu ?? new Map();
}

/** Returns the part of the menu that has a page, or else the nearest section around it; `depth` is the number of its names. */
export function menuPartOf(place: HugoPlace, menu: HugoMenu): (MenuPart & { depth: number }) | null {
  const names = namesOf(place);
  for (let depth = names.length; depth >= Math.min(1, names.length); depth -= 1) {
    const part = menu.get(keyOf(place.language, names.slice(0, depth)));
    if (part !== undefined) return { ...part, depth };
  }
  return null;
}

function configured(menus: unknown, language: string | undefined): MenuEntry[] {
  return entriesIn(menus).map(([menu, entry]) => {
    const target = textOf(entry.pageRef) ?? textOf(entry.url);
    const names = target === undefined || /^[a-z]+:|^\/\//i.test(target) ? undefined : pathOf(target).split('/');
    if (/^_?index$/.test(names?.at(-1) ?? '')) names?.pop();
    if (textOf(entry.pageRef) === undefined && names?.[0] === language) names?.shift();
    return entryOf(menu, entry, { title: textOf(entry.name), weight: 0, page: names && keyOf(language, names) });
  });
}

/** Returns the entries that a page states about itself. One for groups has none, as its title is not shown on others. */
function statedBy({ file, key }: Page): MenuEntry[] {
  const text = textOfFile(file);
  const values = statesMenu.test(text.slice(0, 20_000)) ? (readIncludedPage(text)?.values ?? {}) : {};
  const title = textOf(values.linkTitle) ?? textOf(values.title);
  const weight = numberOf(values.weight);
  return entriesIn(values.menus ?? values.menu).map(([menu, entry]) =>
    entryOf(menu, entry, { title: textOf(entry.name) ?? title, weight, page: key }),
  );
}

/** Returns entries by the names of their menus; front matter may state only the names. */
function entriesIn(menus: unknown): [menu: string, entry: Record<string, unknown>][] {
  if (!isRecord(menus)) return (listOf(menus) ?? []).map((menu) => [menu.toLowerCase(), {}]);
  return Object.entries(menus).flatMap(([menu, value]) =>
    (Array.isArray(value) ? value : [value]).map((entry: unknown): [string, Record<string, unknown>] => [
      menu.toLowerCase(),
      isRecord(entry) ? entry : {},
    ]),
  );
}

function entryOf(
  menu: string,
  entry: Record<string, unknown>,
  { title, weight, page }: Pick<MenuEntry, 'title' | 'weight' | 'page'>,
): MenuEntry {
  return {
    menu,
    id: textOf(entry.identifier) ?? title,
    title,
    parent: textOf(entry.parent),
    // those without a weight come last
    weight: numberOf(entry.weight) || weight || Infinity,
    page,
  };
}

/** Adds the entries of a menu in their order, each below its parent; one that does not exist is only a title. */
function addParts(parts: Map<string, MenuPart>, entries: MenuEntry[]): void {
  const ids = new Set(entries.map(({ id }) => id));
  const below = Map.groupBy(entries, ({ parent }) => parent);
  const missing = [...below.keys()].filter((parent) => !ids.has(parent));
  const roots = missing.flatMap((id) =>
    id === undefined ? [] : [{ menu: '', id, title: id, parent: undefined, weight: Infinity, page: undefined }],
  );
  below.set(undefined, [...(below.get(undefined) ?? []), ...roots]);
  visit(undefined, { positions: [], groups: [] });

  function visit(parent: string | undefined, { positions, groups }: MenuPart): void {
    const children = below.get(parent) ?? [];
    // entries with the same name must not repeat the entries below them
    below.delete(parent);
    if (positions.length >= maxDepth) return;
    const sorted = children.toSorted(
      (a, b) => (a.weight === b.weight ? 0 : a.weight - b.weight) || ((a.title ?? '') < (b.title ?? '') ? -1 : 1),
    );
    for (const [at, { id, title, page }] of sorted.entries()) {
      const own = [...positions, at + 1];
      if (page !== undefined && !parts.has(page)) parts.set(page, { positions: own, groups });
      if (id !== undefined) visit(id, { positions: own, groups: title === undefined ? groups : [...groups, title] });
    }
  }
}

function keyOf(language: string | undefined, names: readonly string[]): string {
  return `${language ?? ''}:${names.join('/')}`.toLowerCase();
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
