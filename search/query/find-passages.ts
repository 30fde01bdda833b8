import type { DatabaseSync } from 'node:sqlite';
import { facetTerm, readerTerm } from '../build/facets.ts';
import { isSameLanguage } from '../build/languages.ts';
import { createCandidates } from './candidates.ts';
import { asksForChanges, listsChanges } from './changelogs.ts';
import { hiddenFrom, isReadable, termsOf, type PageAccess } from './page-access.ts';
import { metadataOf, textsOf } from '../build/stored-page.ts';
import { folderOf, pathOf } from '../read/paths.ts';
import { createNearestPassages } from './nearest-passages.ts';
import { createPageFilter, filterQuery, withinVersion } from './page-filter.ts';
import { withPageEvidence } from './page-evidence.ts';
import type { PageEvidence } from './page-evidence.ts';
import { createTermCounts, readReferring, readQuery } from './query-terms.ts';
import { createRanker } from './rank.ts';
import type { SearchFilter, SearchRequest } from './search-request.ts';
import { createSharedCache } from './shared-cache.ts';
import { createSpelling } from './spelling.ts';
import { hashProse, unpackTerms, type TermVector } from './term-vector.ts';

export interface Passage {
  chunk: number;
  page: number;
  path: string;
  score: number;
}

/** A passage as it is ranked. */
interface StoredPassage extends Omit<Passage, 'score'> {
  ordinal: number;
  language: string;
  /** Empty for a page of all versions. */
  version: string;
  boost: number;
  isChangelog: boolean;
  terms: TermVector;
  /** Hash of its prose, by which copies of it are recognized. */
  prose: number;
}

interface Scored extends Passage {
  ordinal: number;
  presence: number[];
  language: string;
  prose: number;
  /** Effect of its page's boost, language and version on its rank. */
  factor: number;
  preference: number;
}

/** Weights of a passage's surroundings; each is small compared with the passage itself. */
const samePage = 0.06;
const sameFolder = 0.02;
/** Passages of the page whose address is the query come first. */
const askedFactor = 20;
const hintsShare = 0.06;
const boostShare = 0.07;
/** Boost of a changelog in questions that are not about changes: it mentions everything and explains little. */
const changelogBoost = 0.25;
const repeatedPage = 0.94;
/** A copy of a passage on another page, as in another version. */
const repeatedProse = 0.8;
const otherLanguage = 0.85;
const otherVersion = 0.85;
const maxAddressLength = 500;
/** Passages found by meaning. */
const maxNearest = 50;
/** Passages that the open indexes cache, about 2.5 KB each: most questions about a site rank the same ones. */
const kept = createSharedCache<number, StoredPassage>(8_000);
/** Constant of the reciprocal rank fusion; small because there are few candidates. */
const fusionConstant = 10;
/** Spreads the scores over 0 to 1, so that `weakScore` separates answered from unanswered questions. */
const evidenceCurve = 0.6;

/** Returns the function that finds the passages of an index for a request, best first. */
export function createPassageFinder(
  database: DatabaseSync,
  { mainLanguage, mainVersion, passages }: { mainLanguage: string; mainVersion: string; passages: number },
) {
  const count = createTermCounts(database);
  const correct = createSpelling(database);
  const findCandidates = createCandidates(database);
  const hasRestricted = database.prepare('select 1 from pages where readers is not null limit 1').get() !== undefined;
  const languages = new Set(
    database
      .prepare('select distinct language from pages')
      .all()
      .map((row) => String(row.language) || mainLanguage),
  );
  const versions =
    mainVersion === ''
      ? []
      : database
          .prepare(
            "select distinct json_extract(metadata, '$.version') as version from pages where version is not null",
          )
          .all()
          .map((row) => String(row.version));
  const nearest = createNearestPassages(database);
  const pageAt = database.prepare('select metadata, readers from pages where id = ?');
  const pageAtPath = database.prepare(
    `select language, metadata from pages where path in (?1, ?2) and ${isReadable} order by length(path) limit 1`,
  );
  const load = database.prepare(
    `select c.id, c.page, c.ordinal, c.terms, p.path, p.boost, p.language, ${mainVersion === '' ? "''" : "coalesce(json_extract(p.metadata, '$.version'), '')"}
     from json_each(?) as wanted join chunks as c on c.id = wanted.value join pages as p on p.id = c.page`,
  );
  // for hundreds of rows, creating objects would cost more than reading them
  load.setReturnArrays(true);

  /** Returns passages by their ids, from the cache if possible. */
  function read(ids: number[]): StoredPassage[] {
    const known = ids.map((id) => kept.get(database, id));
    const missing = ids.filter((_, at) => known[at] === undefined);
    const loaded = new Map<number, StoredPassage>();
    for (const row of missing.length === 0 ? [] : load.all(JSON.stringify(missing))) {
      const [id, page, ordinal, packed, path, boost, language, version] = Object.values(row);
      const terms = unpackTerms(packed instanceof Uint8Array ? packed : new Uint8Array());
      const passage = {
        chunk: Number(id),
        page: Number(page),
        ordinal: Number(ordinal),
        path: String(path),
        language: String(language) || mainLanguage,
        version: String(version),
        boost: Number(boost),
        isChangelog: listsChanges(String(path)),
        terms,
        prose: hashProse(terms),
      };
      loaded.set(passage.chunk, passage);
      kept.set(database, passage.chunk, passage);
    }
    return ids.flatMap((id, at) => known[at] ?? loaded.get(id) ?? []);
  }

  /** Returns a function that reports whether the reader wants and may see a page. */
  function createVisibility({
    filter,
    access,
  }: {
    filter: SearchFilter;
    access: PageAccess;
  }): (page: number) => boolean {
    const isWanted = createPageFilter(filter, mainLanguage);
    const own = access === 'all' || !hasRestricted ? null : new Set(access.groups.map(readerTerm));
    // reading the metadata of hundreds of pages took a third of a search by meaning
    if (own === null && isWanted === null) return () => true;
    const known = new Map<number, boolean>();
    const check = (page: number): boolean => {
      const { metadata, readers = null } = pageAt.get(page) ?? {};
      if (own !== null && readers !== null && !textsOf(readers).some((reader) => own.has(reader))) return false;
      return isWanted === null || isWanted(metadataOf(metadata));
    };
    return (page) => {
      const isVisible = known.get(page) ?? check(page);
      known.set(page, isVisible);
      return isVisible;
    };
  }

  /** Returns the page whose URL or path a query is; null for other queries. */
  function askedPage(query: string, own: string | null): string | null {
    const [, host, path = ''] =
      /^([a-z]+:\/\/[^\s/]*(?=\/))?([^\s/]*\/\S*)$/i.exec(query.slice(0, maxAddressLength).trim()) ?? [];
    const segments = path === '' ? [] : pathOf(path).split('/');
    for (let at = 0; at < segments.length; at++) {
      const below = segments.slice(at).join('/');
      // a site may be published below a folder; a single word after a slash is not an address: `and/or`
      if (at > 0 && host === undefined && at === segments.length - 1) break;
      if (pageAtPath.get(below, `${below}/index`, own) !== undefined) return below;
    }
    return null;
  }

  /**
   * Returns the language and the version to prefer: the version that the query names, or those of the reader's page, else
   * the site's; null when the request names one or there is no choice.
   */
  function preferred(
    { filter }: SearchRequest,
    { current, named, own }: { current: string | null; named: string | undefined; own: string | null },
  ): { language: string | null; version: string | null } {
    const hasLanguage = filter?.language === undefined && languages.size > 1;
    const hasVersion = filter?.version === undefined && versions.length > 1;
    const row =
      current === null || !(hasLanguage || hasVersion) ? undefined : pageAtPath.get(current, `${current}/index`, own);
    const version = named ?? (row && metadataOf(row.metadata).version);
    return {
      language: hasLanguage ? String(row?.language ?? '') || mainLanguage : null,
      version: hasVersion ? (version ?? mainVersion) : null,
    };
  }

  return function findPassages(request: SearchRequest, access: PageAccess): Passage[] {
    const { limit, filter, currentPath, hints, vector, referred } = request;
    const own = termsOf(access);
    const asked = askedPage(request.query, own);
    const query = asked ?? request.query;
    const index = { count, correct, passages };
    const named = namedVersion(query, versions);
    const terms = readReferring({ query, referred, version: named?.word }, index);
    const facets = filterQuery(filter ?? {}, mainLanguage);
    if (facets === 'none' || (terms.length === 0 && vector === undefined)) return [];
    const current = asked ?? (currentPath === undefined ? null : pathOf(currentPath));
    const nearby = current === null ? null : `"${facetTerm('page', current)}"`;
    const { language, version } = preferred(request, { current, named: named?.version, own });
    const near =
      vector === undefined || nearest === null
        ? []
        : nearest.find(vector, { limit: maxNearest, isVisible: createVisibility({ filter: filter ?? {}, access }) });
    const visible = { facets, hidden: hasRestricted ? hiddenFrom(access) : null, nearby };
    // copies in other versions could fill the list before the passages of this version
    const ids = [
      ...(version === null ? [] : findCandidates(terms, { ...visible, facets: withinVersion(facets, version) })),
      ...findCandidates(terms, visible),
    ];
    const isAboutChanges = asksForChanges(query);
    const weigh = createRanker(terms);
    const hintTerms =
      hints === undefined || hints.length === 0 ? [] : readQuery(hints.join(' '), { ...index, correct: () => [] });
    const weighHints = createRanker(hintTerms);
    const scored = read([...new Set([...ids, ...near])]).map((stored): Scored => {
      const { chunk, page, ordinal, path, prose } = stored;
      const boost = stored.boost * (isAboutChanges || !stored.isChangelog || stored.boost < 1 ? 1 : changelogBoost);
      const { score, presence } = weigh(stored.terms);
      const preference =
        nearness(path, current) * (asked === null ? 1 : askedFactor) +
        (hintTerms.length === 0 ? 0 : hintsShare * weighHints(stored.terms).score);
      const factor =
        (1 + boostShare * Math.log2(boost)) *
        (language === null || isSameLanguage(stored.language, language) ? 1 : otherLanguage) *
        (version === null || stored.version === '' || stored.version === version ? 1 : otherVersion);
      return { chunk, page, ordinal, path, language: stored.language, prose, factor, score, presence, preference };
    });
    const byWords = inOrder(withPageEvidence(scored, terms), near.length === 0 ? limit : scored.length);
    return near.length === 0 ? byWords : fuse(byWords, { found: new Set(ids), near }).slice(0, Math.max(0, limit));
  };
}

/** Returns the version that a query names, and the word for it; a number without `v` needs a dot to be one. */
function namedVersion(query: string, versions: string[]): { version: string; word: string } | undefined {
  const numberOf = (name: string) => name.toLowerCase().replace(/^v(?=\d)/, '');
  for (const word of versions.length < 2 ? [] : query.split(/[\s,;:?!()]+/)) {
    const version = /^v\d|^\d.*\./i.test(word) && versions.find((name) => numberOf(name) === numberOf(word));
    if (version) return { version, word };
  }
  return undefined;
}

function nearness(path: string, current: string | null): number {
  if (current === null) return 0;
  if (path === current || path === `${current}/index`) return samePage;
  return folderOf(path) !== '' && folderOf(path) === folderOf(current) ? sameFolder : 0;
}

/** Sorts by score with preferences and boost; further passages of a page are ranked slightly lower. */
function inOrder(scored: (Scored & PageEvidence)[], limit: number): Passage[] {
  const rankOf = (passage: Scored & PageEvidence) => (passage.score + passage.preference) * passage.factor;
  const compare = (a: { rank: number; passage: Scored }, b: { rank: number; passage: Scored }) =>
    b.rank - a.rank ||
    (a.passage.path < b.passage.path
      ? -1
      : a.passage.path > b.passage.path
        ? 1
        : a.passage.ordinal - b.passage.ordinal);
  const seen = new Map<number, number>();
  const firstWith = new Map<number, number>();
  const ranked = scored
    .map((passage) => ({ passage, rank: rankOf(passage) }))
    .sort(compare)
    .map(({ passage, rank }) => {
      const repeats = seen.get(passage.page) ?? 0;
      seen.set(passage.page, repeats + 1);
      const first = firstWith.get(passage.prose) ?? passage.page;
      firstWith.set(passage.prose, first);
      return { passage, rank: rank * repeatedPage ** repeats * (first === passage.page ? 1 : repeatedProse) };
    })
    .sort(compare);
  const language = ranked[0]?.passage.language ?? '';
  return ranked.slice(0, Math.max(0, limit)).map(({ passage }) => ({
    chunk: passage.chunk,
    page: passage.page,
    path: passage.path,
    score:
      Math.min(1, Math.max(0, passage.score)) ** evidenceCurve *
      passage.support *
      (isSameLanguage(passage.language, language) ? 1 : otherLanguage),
  }));
}

/** Merges the orders by words and by meaning with equal weight (reciprocal rank fusion). */
function fuse(byWords: Passage[], { found, near }: { found: ReadonlySet<number>; near: readonly number[] }): Passage[] {
  const meaning = new Map(near.map((chunk, rank) => [chunk, rank]));
  const weightOf = ({ chunk }: Passage, rank: number) =>
    (found.has(chunk) ? 1 / (fusionConstant + rank) : 0) + 1 / (fusionConstant + (meaning.get(chunk) ?? Infinity));
  return byWords
    .map((passage, rank) => ({ passage, weight: weightOf(passage, rank) }))
    .toSorted((a, b) => b.weight - a.weight)
    .map(({ passage }) => passage);
}
