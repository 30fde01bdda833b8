import { groupsOf, listOf, textOf } from './front-matter.ts';
import type { PageLocation } from './layouts/layout.ts';
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

export const minBoost = 0.1;
export const maxBoost = 10;
/** Boosts of pages that are marked as outdated, and of pages that a navigation omits. */
const deprecatedBoost = 0.25;
const looseBoost = 0.5;

/**
 * Adds to a page what it does not state itself: from its entry in the navigation, found by `key`, and from its location,
 * which is null for an operation of an API.
 */
export function applyNavigation(
  page: ParsedPage,
  { navigation, key, location }: { navigation: Navigation; key: string; location: PageLocation | null },
): SourcePage {
  const { path, content, metadata, values } = page;
  const entry = navigation.entries.get(key) ?? navigation.entries.get(path);
  const first = path.split('/')[0] ?? '';
  const language =
    textOf(values.language) ??
    textOf(values.lang) ??
    entry?.language ??
    location?.language ??
    navigation.languages.find((code) => code === first) ??
    navigation.languages[0];
  const version =
    textOf(values.version) ??
    entry?.version ??
    location?.version ??
    navigation.versions.find((name) => path.startsWith(`${name}/`));
  const groups =
    listOf(values.groups) ?? [entry?.groups, location?.groups].find((names) => names !== undefined && names.length > 0);
  const isLoose = entry === undefined && navigation.entries.size > 0 && location !== null;
  const boost =
    page.boost ?? (entry?.boost ?? 1) * (page.isDeprecated ? deprecatedBoost : 1) * (isLoose ? looseBoost : 1);
  return {
    path,
    content,
    metadata: {
      ...metadata,
      ...(location?.url && { url: location.url }),
      ...(language && { language }),
      ...(location?.shownIn && { shownIn: location.shownIn }),
      ...(version && { version }),
      ...(groups && { groups }),
    },
    restrictedTo: groupsOf(values),
    isHidden: page.isHidden || entry?.isHidden === true,
    order: entry?.order ?? location?.order ?? null,
    boost: Math.min(maxBoost, Math.max(minBoost, boost)),
  };
}
