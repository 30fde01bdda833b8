import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { packVector, sketchOf, unitOf, valuesOf } from '../query/vector.ts';
import { openArtifact, openArtifactForChange } from './schema.ts';
import { contentOf, metadataOf, textsOf } from './stored-page.ts';

/** Longest text embedded per passage, in characters: about 500 tokens. */
const maxPassageLength = 2_000;
/** Embedding models have up to 4,096 dimensions. */
const maxDimensions = 4_096;
const sketchesPerBlock = 1_024;

/** A passage that has no vector. */
export interface PassageText {
  chunk: number;
  hash: string;
  text: string;
}

/** Opens the vectors of one model in an artifact; those of another model are removed. */
export function openVectorWriter(file: string, { model, previousFile }: { model: string; previousFile?: string }) {
  const database = openArtifactForChange(file);
  database.exec('begin');
  const known = spaceOf(database);
  let dimensions = known?.model === model ? known.dimensions : null;
  if (dimensions === null) database.exec('delete from vectors; delete from sketches; delete from vector_space');
  const insert = database.prepare('insert into vectors (chunk, hash, vector) values (?, ?, ?)');
  const missing = readMissing(database);
  const reused = new Set<PassageText>();
  if (previousFile !== undefined && missing.length > 0) {
    using previous = openArtifact(previousFile);
    const space = spaceOf(previous);
    if (space?.model === model && (dimensions ?? space.dimensions) === space.dimensions) {
      dimensions = space.dimensions;
      reuse(previous, missing, (passage, vector) => {
        insert.run(passage.chunk, passage.hash, vector);
        reused.add(passage);
      });
    }
  }
  /** Number of passages with a vector. */
  const count = (): number => Number(database.prepare('select count(*) as count from vectors').get()?.count ?? 0);
  return {
    /** Passages without a vector. Vectors of an equal text in the previous artifact are reused. */
    missing: missing.filter((passage) => !reused.has(passage)),
    /** Adds vectors. Throws when one is not comparable with the others. */
    add(passages: readonly PassageText[], vectors: readonly (readonly number[])[]): void {
      if (vectors.length !== passages.length)
        throw new Error(`The embedding model returned ${vectors.length} vectors for ${passages.length} texts.`);
      const units = vectors.map((vector) => {
        const unit = vector.length > maxDimensions ? null : unitOf(vector);
        if (unit === null)
          throw new Error(`A vector of the embedding model is not a direction of at most ${maxDimensions} numbers.`);
        if (vector.length !== (dimensions ??= vector.length))
          throw new Error('The vectors of the embedding model differ in length.');
        return unit;
      });
      for (const [at, { chunk, hash }] of passages.entries()) {
        const unit = units[at];
        if (unit !== undefined) insert.run(chunk, hash, packVector(unit));
      }
    },
    count,
    [Symbol.dispose]() {
      try {
        if (dimensions !== null && count() > 0) writeSketches(database, { model, dimensions });
        database.exec('commit');
      } finally {
        database.close();
      }
    },
  };
}

export interface VectorSpace {
  model: string;
  dimensions: number;
  /** Mean of the vectors, from which sketches are taken. */
  center: Float32Array;
}

/** Returns the model of an artifact's vectors; null for an artifact without vectors. */
export function spaceOf(database: DatabaseSync): VectorSpace | null {
  const row = database.prepare('select model, dimensions, center from vector_space').get();
  if (row === undefined || !(row.center instanceof Uint8Array)) return null;
  const center = new Float32Array(Uint8Array.from(row.center).buffer);
  return { model: String(row.model), dimensions: Number(row.dimensions), center };
}

function readMissing(database: DatabaseSync): PassageText[] {
  const rows = database
    .prepare(
      `select c.id, c.start, c.end, c.before, c.after, c.headings, p.id as page, p.content, p.is_packed, p.metadata
       from chunks as c join pages as p on p.id = c.page
       where not exists (select 1 from vectors as v where v.chunk = c.id) order by c.id`,
    )
    .iterate();
  const missing: PassageText[] = [];
  let page = { id: -1, content: '', title: '' };
  for (const row of rows) {
    if (page.id !== Number(row.page))
      page = { id: Number(row.page), content: contentOf(row), title: metadataOf(row.metadata).title };
    const passage = page.content.slice(Number(row.start), Number(row.end));
    const text = `${[page.title, ...textsOf(row.headings)].join(' > ')}\n\n${String(row.before)}${passage}`;
    const short = text.slice(0, maxPassageLength);
    const hash = createHash('sha256').update(short).digest('base64url').slice(0, 22);
    missing.push({ chunk: Number(row.id), hash, text: short });
  }
  return missing;
}

function reuse(
  previous: DatabaseSync,
  missing: readonly PassageText[],
  write: (passage: PassageText, vector: Uint8Array) => void,
): void {
  const byHash = Map.groupBy(missing, ({ hash }) => hash);
  for (const { hash, vector } of previous.prepare('select hash, vector from vectors').iterate()) {
    const passages = byHash.get(String(hash)) ?? [];
    byHash.delete(String(hash));
    if (vector instanceof Uint8Array) for (const passage of passages) write(passage, vector);
  }
}

/** Writes the sketches of all vectors, in blocks that are read at once. */
function writeSketches(database: DatabaseSync, space: { model: string; dimensions: number }): void {
  const all = database.prepare('select chunk, vector from vectors order by chunk');
  const sum = new Float64Array(space.dimensions);
  let count = 0;
  for (const { vector } of all.iterate()) {
    if (!(vector instanceof Uint8Array)) continue;
    const { values, scale } = valuesOf(vector);
    for (let at = 0; at < values.length; at++) sum[at] = (sum[at] ?? 0) + (values[at] ?? 0) * scale;
    count++;
  }
  const center = Float32Array.from(sum, (value) => value / count);
  database.exec('delete from vector_space; delete from sketches');
  database
    .prepare('insert into vector_space (model, dimensions, center) values (?, ?, ?)')
    .run(space.model, space.dimensions, bytesOf(center));
  const insert = database.prepare('insert into sketches (chunks, bits) values (?, ?)');
  let chunks: number[] = [];
  let bits: number[] = [];
  const flush = () => {
    if (chunks.length > 0) insert.run(bytesOf(Int32Array.from(chunks)), bytesOf(Int32Array.from(bits)));
    chunks = [];
    bits = [];
  };
  for (const { chunk, vector } of all.iterate()) {
    if (!(vector instanceof Uint8Array)) continue;
    const { values, scale } = valuesOf(vector);
    chunks.push(Number(chunk));
    bits.push(...sketchOf(values, center, scale));
    if (chunks.length === sketchesPerBlock) flush();
  }
  flush();
}

function bytesOf(values: Float32Array | Int32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
