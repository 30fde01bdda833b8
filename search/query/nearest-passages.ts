import type { DatabaseSync } from 'node:sqlite';
import { spaceOf } from '../build/vectors.ts';
import { distanceAt, similarityOf, sketchOf, sketchWords, unitOf } from './vector.ts';

/** Number of passages, nearest by their sketches, that are compared exactly. */
const maxCompared = 400;
/** Number of passages scanned to find enough that the reader wants and may see. */
const maxScanned = 4_000;

interface Sketches {
  chunks: Int32Array;
  bits: Int32Array;
}

/** Finds the passages nearest in meaning to a question's vector, nearest first. */
export interface NearestPassages {
  /** The embedding model of the vectors, as `provider/model`. */
  model: string;
  find(vector: readonly number[], request: { limit: number; isVisible: (page: number) => boolean }): number[];
}

/**
 * Returns the search by meaning of an artifact; null when it has no vectors. Comparing all vectors of a large site takes
 * too long, so the nearest are chosen by sketches of one bit per dimension, which stay in memory, and then compared.
 */
export function createNearestPassages(database: DatabaseSync): NearestPassages | null {
  const space = spaceOf(database);
  if (space === null) return null;
  const words = sketchWords(space.dimensions);
  const load = database.prepare(
    `select v.chunk, v.vector, c.page from json_each(?) as wanted
     join vectors as v on v.chunk = wanted.value join chunks as c on c.id = v.chunk`,
  );
  const pageOf = database.prepare('select page from chunks where id = ?');
  let cached: Sketches | null = null;

  return {
    model: space.model,
    find(vector, { limit, isVisible }) {
      const unit = vector.length === space.dimensions ? unitOf(vector) : null;
      if (unit === null) return [];
      cached ??= readSketches(database);
      const { chunks, bits } = cached;
      const near: number[] = [];
      for (const at of nearestFirst(bits, { sketch: sketchOf(unit, space.center), words })) {
        const chunk = chunks[at] ?? 0;
        if (!isVisible(Number(pageOf.get(chunk)?.page))) continue;
        near.push(chunk);
        if (near.length === maxCompared) break;
      }
      return load
        .all(JSON.stringify(near))
        .map((row) => ({
          chunk: Number(row.chunk),
          similarity: row.vector instanceof Uint8Array ? similarityOf(unit, row.vector) : -1,
        }))
        .toSorted((a, b) => b.similarity - a.similarity || a.chunk - b.chunk)
        .slice(0, limit)
        .map(({ chunk }) => chunk);
    },
  };
}

/** Returns the positions of the nearest sketches, sorted by counting. */
function nearestFirst(bits: Int32Array, { sketch, words }: { sketch: Int32Array; words: number }): number[] {
  const count = bits.length / words;
  const distances = new Uint16Array(count);
  const sizes = new Int32Array(words * 32 + 1);
  for (let at = 0; at < count; at++) {
    const distance = distanceAt(bits, at * words, sketch);
    distances[at] = distance;
    sizes[distance] = (sizes[distance] ?? 0) + 1;
  }
  let furthest = 0;
  for (let total = sizes[0] ?? 0; total < maxScanned && furthest + 1 < sizes.length; total += sizes[furthest] ?? 0)
    furthest++;
  const near: number[] = [];
  for (let at = 0; at < count; at++) if ((distances[at] ?? 0) <= furthest) near.push(at);
  return near.sort((a, b) => (distances[a] ?? 0) - (distances[b] ?? 0) || a - b).slice(0, maxScanned);
}

function readSketches(database: DatabaseSync): Sketches {
  const rows = database.prepare('select chunks, bits from sketches order by id').all();
  return { chunks: joined(rows.map(({ chunks }) => chunks)), bits: joined(rows.map(({ bits }) => bits)) };
}

function joined(blobs: unknown[]): Int32Array {
  const bytes = Buffer.concat(blobs.flatMap((blob) => (blob instanceof Uint8Array ? [blob] : [])));
  return new Int32Array(Uint8Array.from(bytes).buffer);
}
