import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { metadataOf, textsOf } from '../build/stored-page.ts';
import { fold, questionWords, stopWords, termsOf } from '../build/words.ts';
import { quoted, within } from './candidates.ts';
import { filterQuery, withinVersion } from './page-filter.ts';
import { hiddenFrom, type PageAccess } from './page-access.ts';
import type { SearchFilter } from './search-request.ts';

export interface SuggestRequest {
  /** The text typed so far; its last word may be incomplete. */
  query: string;
  limit: number;
  filter?: SearchFilter | null;
}

/** A page, or a section of it, whose title or heading contains what was typed. */
export interface Suggestion {
  path: string;
  title: string;
  /** Null for the page itself. */
  heading: string | null;
  anchor: string | null;
  /** Only of a page with a URL of its own. */
  metadata?: { url: string };
}

interface Ranked extends Suggestion {
  /** Number of terms of its title or heading. */
  terms: number;
}

/** Terms of which a title or heading needs one. */
interface Token {
  text: string;
  matches(term: string): boolean;
}

const maxQueryLength = 200;
const maxWords = 8;
/** A shorter prefix matches too many words. */
const minBeginningLength = 2;
/** Stemming removes endings, so that `installi` has to find `instal`. */
const maxEndingLength = 5;
const minStemLength = 3;
/** Number of completions of a prefix, and of index terms among which they are chosen. */
const maxCompletions = 20;
const maxTermsRead = 300;
const maxCached = 5_000;
/** Passages read per query: the first ones in the index, because ranking all takes too long on a large site. */
const maxPassages = 200;
/** Pages read per query. All passages of a page match if its title does, so only the first passage of each is read. */
const maxPages = 1_000;

/**
 * Returns the function that finds the titles and headings for what a reader types: those of pages first, and those that
 * say little else. Pages in the main language and version come before the others.
 */
export function createSuggester(
  database: DatabaseSync,
  { mainLanguage, mainVersion }: { mainLanguage: string; mainVersion: string },
) {
  const hasRestricted = database.prepare('select 1 from pages where readers is not null limit 1').get() !== undefined;
  const hasLanguages =
    database.prepare("select 1 from pages where language not in ('', ?) limit 1").get(mainLanguage) !== undefined;
  const complete = database.prepare(
    `select term from (
       select term, count from common_terms where term >= ?1 and term < ?2 union
       select term, doc from (select term, doc from temp.vocabulary where term >= ?1 and term < ?2 limit ${maxTermsRead})
     ) order by count desc, term limit ${maxCompletions}`,
  );
  const finding = (limit: number, condition: string) =>
    database.prepare(
      `select p.path, p.title, p.metadata, c.anchor, c.headings
       from (select rowid as id from chunk_text where chunk_text match ? limit ${limit}) as found
       join chunks as c on c.id = found.id join pages as p on p.id = c.page where ${condition} order by c.id`,
    );
  const findPages = finding(maxPages, 'c.ordinal = 0');
  const findSections = finding(maxPassages, 'true');

  const completions = new Map<string, Token | null>();

  /** Returns the terms that begin like a word, the most frequent first; cached, since counting common ones takes long. */
  function completionsOf(word: string): Token | null {
    const start = word.replaceAll('_', '');
    if (start.length < minBeginningLength) return null;
    const known = completions.get(start);
    if (known !== undefined) return known;
    const terms = complete.all(start, `${start}\u{10ffff}`).map(({ term }) => String(term));
    // the stem of a whole word may begin differently: `canary` has the stem `canari`
    const token = terms.length === 0 ? null : oneOf([...new Set([...terms, ...termsOf(word)])]);
    if (completions.size >= maxCached) completions.clear();
    completions.set(start, token);
    return token;
  }

  /** Returns the ways to read a query, the best first: its last word as a beginning, as a whole word, and left out. */
  function* readings(query: string): Generator<Token[]> {
    const words = fold(query).match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
    const last = /[\p{L}\p{M}\p{N}_]$/u.test(query) ? (words.pop() ?? '') : '';
    const whole = words
      .filter((word) => !stopWords.has(word) && !questionWords.has(word))
      .slice(-maxWords)
      .flatMap((word) => termsOf(word).flatMap((term) => oneOf([term]) ?? []));
    for (const token of [completionsOf(last), oneOf([...termsOf(last), ...stemsOf(last)])])
      if (token !== null) yield [...whole, token];
    if (whole.length > 0) yield whole;
  }

  /**
   * Returns the filters to try in order: first one for the preferred pages, if there are others, then the whole filter.
   */
  function choicesOf(filter: SearchFilter): Set<string | null> {
    const all = filterQuery(filter, mainLanguage);
    const inLanguage = filterQuery({ ...(hasLanguages && { language: mainLanguage }), ...filter }, mainLanguage);
    if (all === 'none' || inLanguage === 'none') return new Set();
    const hasVersions = mainVersion !== '' && filter.version === undefined;
    return new Set([hasVersions ? withinVersion(inLanguage, mainVersion) : inLanguage, all]);
  }

  function find(tokens: Token[], facets: string | null, access: PageAccess): Ranked[] {
    const text = tokens.map((token) => token.text).join(' AND ');
    const visible = { facets, hidden: hasRestricted ? hiddenFrom(access) : null };
    const rows = [
      ...findPages.all(within(`{title} : (${text})`, visible)),
      ...findSections.all(within(`{title headings} : (${text})`, visible)),
    ];
    return rows
      .flatMap((row) => suggestionOf(row, tokens) ?? [])
      .sort((a, b) => Number(a.heading !== null) - Number(b.heading !== null) || a.terms - b.terms);
  }

  return function suggest({ query, limit, filter }: SuggestRequest, access: PageAccess): Suggestion[] {
    const choices = choicesOf(filter ?? {});
    for (const tokens of readings(query.slice(0, maxQueryLength))) {
      const found = new Map<string, Suggestion>();
      for (const facets of choices) {
        if (found.size >= limit) break;
        for (const { terms: _, ...suggestion } of find(tokens, facets, access)) {
          const key = JSON.stringify([suggestion.path, suggestion.heading]);
          if (found.size < limit && !found.has(key)) found.set(key, suggestion);
        }
      }
      if (found.size > 0) return [...found.values()];
    }
    return [];
  };
}

function oneOf(terms: string[]): Token | null {
  if (terms.length === 0) return null;
  return { text: `(${terms.map(quoted).join(' OR ')})`, matches: (term) => terms.includes(term) };
}

/** Returns the prefixes of a word that may be stems of the complete word. */
function stemsOf(word: string): string[] {
  return Array.from({ length: maxEndingLength }, (_, at) => word.slice(0, -1 - at)).filter(
    (start) => start.length >= minStemLength,
  );
}

/**
 * Returns the page if its title matches all that was typed, else the section if its own heading matches the rest; null
 * if that is only in a heading above.
 */
function suggestionOf(row: Record<string, SQLOutputValue>, tokens: Token[]): Ranked | null {
  const titleTerms = termsOf(String(row.title), { stopWords: true });
  const left = tokens.filter(({ matches }) => !titleTerms.some(matches));
  const heading = left.length === 0 ? null : (textsOf(row.headings).at(-1) ?? '');
  const terms = heading === null ? titleTerms : termsOf(heading, { stopWords: true });
  if (heading !== null && !left.every(({ matches }) => terms.some(matches))) return null;
  const anchor = heading === null || row.anchor === null ? null : String(row.anchor);
  const { title, url } = metadataOf(row.metadata);
  const shown = { path: String(row.path), title, heading, anchor, ...(url !== undefined && { metadata: { url } }) };
  return { ...shown, terms: terms.length };
}
