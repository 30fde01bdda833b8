import { partsStrength } from './query-terms.ts';
import type { QueryTerm } from './query-terms.ts';
import type { TermVector } from './term-vector.ts';

// Fitted on questions whose correct page is known.
const weights = {
  saturation: 2.1,
  title: 4.6,
  headings: 0.9,
  code: 1.15,
  lengthInBody: 0.285,
  lengthInCode: 0.27,
  coverage: 0.115,
  frequency: 0.583,
  titleMatch: 0.15,
  headingMatch: 0.042,
  sameHeading: 0.134,
  proximity: 0.18,
};

const averageBody = 90;
const averageCode = 70;

/** The evidence that a passage answers a query. */
export interface Evidence {
  /** 0 to 1. */
  score: number;
  /** Share of each term that the passage contains. */
  presence: number[];
}

/** Prepares a query and returns the function that scores a passage. */
export function createRanker(terms: QueryTerm[]): (vector: TermVector) => Evidence {
  const lookup = buildLookup(terms);
  const total = terms.reduce((sum, term) => sum + term.weight, 0) || 1;

  return (vector) => {
    const title = readField(vector.title, lookup, terms.length);
    const headings = readField(vector.headings, lookup, terms.length);
    const body = readField(vector.body, lookup, terms.length);
    const code = readField(vector.code, lookup, terms.length);
    const bodyNorm = 1 - weights.lengthInBody + (weights.lengthInBody * vector.body.length) / averageBody;
    const codeNorm = 1 - weights.lengthInCode + (weights.lengthInCode * vector.code.length) / averageCode;
    const presence = terms.map((_, at) =>
      Math.max(title.best[at] ?? 0, headings.best[at] ?? 0, body.best[at] ?? 0, code.best[at] ?? 0),
    );
    let coverage = 0;
    let frequency = 0;
    for (const [at, term] of terms.entries()) {
      const parts = Math.max(partsShare(code, at, term), partsShare(body, at, term));
      for (const field of [title, headings]) addParts(field, at, term);
      presence[at] = Math.max(presence[at] ?? 0, parts * partsStrength);
      coverage += term.weight * (presence[at] ?? 0);
      const inFields = weights.title * (title.sums[at] ?? 0) + weights.headings * (headings.sums[at] ?? 0);
      const amount =
        inFields + (body.sums[at] ?? 0) / bodyNorm + (weights.code * Math.max(code.sums[at] ?? 0, parts)) / codeNorm;
      frequency += (term.weight * amount) / (weights.saturation + amount);
    }
    const score =
      (weights.coverage * coverage) / total +
      (weights.frequency * frequency) / total +
      weights.titleMatch * matchOf(title, vector.title.length, terms, total) +
      weights.headingMatch * matchOf(headings, vector.headings.length, terms, total) +
      (isSame(headings, vector.headings.length, terms) ? weights.sameHeading : 0) +
      weights.proximity * proximityOf(terms, presence, [body, headings, title]);
    return { score, presence };
  };
}

function partsShare(field: Field, at: number, { parts }: QueryTerm): number {
  return parts.length === 0 ? 0 : (field.parts[at] ?? 0) / parts.length;
}

/** A title or heading that contains all parts of an identifier names it. */
function addParts(field: Field, at: number, term: QueryTerm): void {
  if (partsShare(field, at, term) < 1 || (field.best[at] ?? 0) >= partsStrength) return;
  field.best[at] = partsStrength;
  field.sums[at] = (field.sums[at] ?? 0) + partsStrength;
}

interface Occurrence {
  at: number;
  /** Term that has to stand before it. */
  after: number | undefined;
  strength: number;
  /** Index of the part of an identifier; -1 for the whole. */
  part: number;
}

interface Lookup {
  occurrences: Map<number, Occurrence[]>;
  /** By the lowest bits of a hash: 0 if no wanted hash has them, which rules out nearly every term of a passage. */
  filter: Uint8Array;
}

const filterMask = 0xfff;
const nowhere: number[] = [];

function buildLookup(terms: QueryTerm[]): Lookup {
  const occurrences = new Map<number, Occurrence[]>();
  const filter = new Uint8Array(filterMask + 1);
  const add = (hash: number, occurrence: Occurrence) => {
    occurrences.set(hash, [...(occurrences.get(hash) ?? []), occurrence]);
    filter[hash & filterMask] = 1;
  };
  for (const [at, term] of terms.entries()) {
    for (const { hash, after, strength } of term.alternatives) add(hash, { at, after, strength, part: -1 });
    for (const [part, { hash }] of term.parts.entries())
      add(hash, { at, after: undefined, strength: partsStrength, part });
  }
  return { occurrences, filter };
}

/** Matches of a field by term; terms without a match have no entry. */
interface Field {
  best: number[];
  sums: number[];
  /** Number of an identifier's parts that occur. */
  parts: number[];
  /** Positions of the words themselves, not of their synonyms. */
  positions: number[][];
  /** Number of the field's own terms that the query contains. */
  matched: number;
}

const maxPositions = 12;
/** Most fields contain no term of the query and share this value. */
const unmatched: Field = { best: [], sums: [], parts: [], positions: [], matched: 0 };

function readField(values: Int32Array, { occurrences, filter }: Lookup, size: number): Field {
  let field = unmatched;
  let seen: Set<number>[] | null = null;
  for (let position = 0; position < values.length; position++) {
    const value = values[position] ?? 0;
    if (filter[value & filterMask] === 0) continue;
    const found = occurrences.get(value);
    if (found === undefined) continue;
    if (field === unmatched) field = { best: [], sums: [], parts: [], positions: [], matched: 0 };
    const { best, sums, parts, positions } = field;
    let isMatched = false;
    for (const { at, after, strength, part } of found) {
      if (after !== undefined && values[position - 1] !== after) continue;
      isMatched = true;
      if (strength >= partsStrength) {
        const own = (positions[at] ??= []);
        if (own.length < maxPositions) own.push(position);
      }
      if (part >= 0) {
        seen ??= Array.from({ length: size }, () => new Set());
        parts[at] = seen[at]?.add(part).size ?? 0;
        continue;
      }
      best[at] = Math.max(best[at] ?? 0, strength);
      sums[at] = (sums[at] ?? 0) + strength;
    }
    if (isMatched) field.matched++;
  }
  return field;
}

/** Returns how well a title matches the query; 1 if it says all that the query asks and nothing else. */
function matchOf(field: Field, length: number, terms: QueryTerm[], total: number): number {
  if (length === 0) return 0;
  let covered = 0;
  for (const [at, term] of terms.entries()) covered += term.weight * (field.best[at] ?? 0);
  const recall = covered / total;
  const precision = field.matched / length;
  return recall + precision === 0 ? 0 : (2 * recall * precision) / (recall + precision);
}

/** Reports whether the headings have the same words as the query, apart from question words. */
function isSame(field: Field, length: number, terms: QueryTerm[]): boolean {
  if (length === 0 || field.matched < length) return false;
  const words = terms.flatMap(({ kind }, at) => (kind === 'word' ? [field.best[at] ?? 0] : []));
  return words.length > 0 && words.every((best) => best === 1);
}

/**
 * Returns how close consecutive terms of the query are in the passage; 1 when all of them are adjacent. A name is a
 * separate phrase.
 */
function proximityOf(terms: QueryTerm[], presence: number[], fields: Field[]): number {
  let sum = 0;
  let total = 0;
  let previous = -1;
  for (const [at, term] of terms.entries()) {
    if (term.kind === 'stop') continue;
    if (term.isIdentifier) {
      total += term.weight;
      sum += term.weight * (presence[at] ?? 0);
    }
    if (previous >= 0) {
      const weight = term.weight + (terms[previous]?.weight ?? 0);
      total += weight;
      let best = 0;
      for (const { positions } of fields)
        best = Math.max(best, closeness(positions[previous] ?? nowhere, positions[at] ?? nowhere));
      sum += weight * best;
    }
    previous = at;
  }
  return total === 0 ? 0 : sum / total;
}

function closeness(first: number[], second: number[]): number {
  let best = 0;
  for (const a of first) for (const b of second) best = Math.max(best, b > a ? 1 / (b - a) : 0.8 / (a - b + 1));
  return best;
}
