import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { metadataOf, textsOf } from '../build/stored-page.ts';
import { fold, questionWords, stopWords, termsOf } from '../build/words.ts';
import { within } from './candidates.ts';
import { filterQuery } from './page-filter.ts';
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

/** Terms of which a title or heading needs one. */
interface Token {
  text: string;
  matches(term: string): boolean;
}

const longestQuery = 200;
const mostWords = 8;
/** With fewer letters, a beginning of a word matches too much. */
const shortestBeginning = 2;
/** Stemming removes endings, so that `installi` has to find `instal`. */
const longestEnding = 5;
const shortestStem = 3;
/** Words that a beginning stands for, and terms of the index among which they are chosen. */
const mostCompletions = 20;
const mostTermsRead = 300;
const mostCached = 5_000;
/** Passages looked at per query: the first of the index, because ranking all of them takes too long on a large site. */
const mostPassages = 200;

/** Returns the function that finds the titles and headings for what a reader types, those of pages first. */
export function createSuggester(database: DatabaseSync, { mainLanguage }: { mainLanguage: string }) {
  const hasRestricted = database.prepare('select 1 from pages where readers is not null limit 1').get() !== undefined;
  const complete = database.prepare(
    `select term from (
       select term, count from common_terms where term >= ?1 and term < ?2 union
       select term, doc from (select term, doc from temp.vocabulary where term >= ?1 and term < ?2 limit ${mostTermsRead})
     ) order by count desc, term limit ${mostCompletions}`,
  );
  const find = database.prepare(
    `select p.path, p.title, p.metadata, c.anchor, c.headings
     from (select rowid as id from chunk_text where chunk_text match ? limit ${mostPassages}) as found
     join chunks as c on c.id = found.id join pages as p on p.id = c.page order by c.id`,
  );

  const completions = new Map<string, Token | null>();

  /** Returns the terms that begin like a word, the most frequent first; cached, since counting common ones takes long. */
  function completionsOf(word: string): Token | null {
    const start = word.replaceAll('_', '');
    if (start.length < shortestBeginning) return null;
    const known = completions.get(start);
    if (known !== undefined) return known;
    const token = oneOf(complete.all(start, `${start}\u{10ffff}`).map(({ term }) => String(term)));
    if (completions.size >= mostCached) completions.clear();
    completions.set(start, token);
    return token;
  }

  /** Returns the ways to read a query, the best first: its last word as a beginning, as a whole word, and left out. */
  function* readings(query: string): Generator<Token[]> {
    const words = fold(query).match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
    const last = /[\p{L}\p{M}\p{N}_]$/u.test(query) ? (words.pop() ?? '') : '';
    const whole = words
      .filter((word) => !stopWords.has(word) && !questionWords.has(word))
      .slice(-mostWords)
      .flatMap((word) => termsOf(word).flatMap((term) => oneOf([term]) ?? []));
    for (const token of [completionsOf(last), oneOf([...termsOf(last), ...stemsOf(last)])])
      if (token !== null) yield [...whole, token];
    if (whole.length > 0) yield whole;
  }

  return function suggest({ query, limit, filter }: SuggestRequest, access: PageAccess): Suggestion[] {
    const facets = filterQuery(filter ?? {}, mainLanguage);
    if (facets === 'none') return [];
    const visible = { facets, hidden: hasRestricted ? hiddenFrom(access) : null };
    for (const tokens of readings(query.slice(0, longestQuery))) {
      const text = tokens.map((token) => token.text).join(' AND ');
      const rows = ['{title}', '{title headings}'].flatMap((columns) =>
        find.all(within(`${columns} : (${text})`, visible)),
      );
      const found = new Map<string, Suggestion>();
      for (const row of rows) {
        const suggestion = suggestionOf(row, tokens);
        if (suggestion === null || found.size >= limit) continue;
        found.set(JSON.stringify([suggestion.path, suggestion.heading]), suggestion);
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

/** Returns the beginnings of a word that may be stems of what it becomes. */
function stemsOf(word: string): string[] {
  return Array.from({ length: longestEnding }, (_, at) => word.slice(0, -1 - at)).filter(
    (start) => start.length >= shortestStem,
  );
}

/** Returns the page if its title matches, else the section if its heading adds to that; null for what is below it. */
function suggestionOf(row: Record<string, SQLOutputValue>, tokens: Token[]): Suggestion | null {
  const titleTerms = termsOf(String(row.title), { stopWords: true });
  const left = tokens.filter(({ matches }) => !titleTerms.some(matches));
  const heading = left.length === 0 ? null : (textsOf(row.headings).at(-1) ?? '');
  if (heading !== null) {
    const terms = termsOf(heading, { stopWords: true });
    if (!left.every(({ matches }) => terms.some(matches))) return null;
  }
  const anchor = heading === null || row.anchor === null ? null : String(row.anchor);
  const { title, url } = metadataOf(row.metadata);
  return { path: String(row.path), title, heading, anchor, ...(url !== undefined && { metadata: { url } }) };
}

function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`;
}
