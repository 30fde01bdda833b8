import { groupsOf, listOf, textOf } from './front-matter.ts';
import type { Place } from './layouts/layout.ts';
import type { Navigation } from './navigation.ts';
import type { PageMetadata, SourcePage } from './source-page.ts';

export interface ParsedPage {
  path: string;
  content: string;
  metadata: PageMetadata;
  isHidden: boolean;
  isDeprecated: boolean;
  /** Value from the page itself; null if it has none. */
  boost: number | null;
  /** Its front matter. */
  values: Record<string, unknown>;
}

export const lowestBoost = 0.1;
export const highestBoost = 10;
/** Boosts of pages that are marked as outdated, and of pages that a navigation omits. */
const deprecatedBoost = 0.25;
const looseBoost = 0.5;

/**
 * Adds to a page what it does not state itself: from its entry in the navigation, found by `key`, and from its place,
 * which is null for an operation of an API.
 */
export function applyNavigation(
  page: ParsedPage,
  { navigation, key, place }: { navigation: Navigation; key: string; place: Place | null },
): SourcePage {
  const { path, content, metadata, values } = page;
  const entry = navigation.entries.get(key) ?? navigation.entries.get(path);
  const first = path.split('/')[0] ?? '';
  const language =
    textOf(values.language) ??
    textOf(values.lang) ??
    entry?.language ??
    place?.language ??
    navigation.languages.find((code) => code === first) ??
    navigation.languages[0];
  const version =
    textOf(values.version) ??
    entry?.version ??
    place?.version ??
    navigation.versions.find((name) => path.startsWith(`${name}/`));
  const groups =
    listOf(values.groups) ?? [entry?.groups, place?.groups].find((names) => names !== undefined && names.length > 0);
  const isLoose = entry === undefined && navigation.entries.size > 0 && place !== null;
  const boost =
    page.boost ?? (entry?.boost ?? 1) * (page.isDeprecated ? deprecatedBoost : 1) * (isLoose ? looseBoost : 1);
  return {
    path,
    content,
    metadata: {
      ...metadata,
      ...(place?.url && { url: place.url }),
      ...(language && { language }),
      ...(version && { version }),
      ...(groups && { groups }),
    },
    restrictedTo: groupsOf(values),
    ...(place?.shownIn && { shownIn: place.shownIn }),
    isHidden: page.isHidden || entry?.isHidden === true,
    order: entry?.order ?? place?.order ?? null,
    boost: Math.min(highestBoost, Math.max(lowestBoost, boost)),
  };
}
