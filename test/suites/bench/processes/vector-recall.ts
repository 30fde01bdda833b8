import { spaceOf } from '../../../../search/build/vectors.ts';
import { openArtifact } from '../../../../search/build/schema.ts';
import { createNearestPassages } from '../../../../search/query/nearest-passages.ts';
import { similarityOf, unitOf } from '../../../../search/query/vector.ts';
import { median } from '../support/report.ts';

/** How the search by meaning compares with comparing all vectors, on the same questions. */
export interface RecallResult {
  questions: number;
  /** Shares of the ten nearest that another way finds, by question. */
  ofQuantised: number[];
  ofFloat: number[];
  quantisedOfFloat: number[];
  /** p50 per question, with all vectors in memory. */
  sketchMs: number;
  quantisedMs: number;
  floatMs: number;
}

const limit = 10;

/** Finds the nearest passages of each question in three ways. `floats` has the vector of each chunk as it was embedded. */
export function measureRecall(
  file: string,
  { floats, questions }: { floats: ReadonlyMap<number, Float32Array>; questions: readonly number[][] },
): RecallResult {
  using database = openArtifact(file);
  const nearest = createNearestPassages(database);
  const space = spaceOf(database);
  if (nearest === null || space === null) throw new Error('The index has no vectors.');
  const packed = database
    .prepare('select chunk, vector from vectors order by chunk')
    .all()
    .flatMap(({ chunk, vector }) => (vector instanceof Uint8Array ? [{ chunk: Number(chunk), vector }] : []));
  const embedded = [...floats].map(([chunk, vector]) => ({ chunk, vector }));
  const times: { sketch: number[]; quantised: number[]; float: number[] } = { sketch: [], quantised: [], float: [] };
  const result: RecallResult = {
    questions: questions.length,
    ofQuantised: [],
    ofFloat: [],
    quantisedOfFloat: [],
    sketchMs: 0,
    quantisedMs: 0,
    floatMs: 0,
  };
  // the first search reads the sketches
  nearest.find(questions[0] ?? [], { limit, isVisible: () => true });
  for (const question of questions) {
    const unit = unitOf(question);
    if (unit === null) continue;
    const found = timed(times.sketch, () => nearest.find(question, { limit, isVisible: () => true }));
    const quantised = timed(times.quantised, () => topOf(packed, ({ vector }) => similarityOf(unit, vector)));
    const float = timed(times.float, () => topOf(embedded, ({ vector }) => cosineOf(unit, vector)));
    result.ofQuantised.push(shareOf(found, quantised));
    result.ofFloat.push(shareOf(found, float));
    result.quantisedOfFloat.push(shareOf(quantised, float));
  }
  return {
    ...result,
    sketchMs: median(times.sketch),
    quantisedMs: median(times.quantised),
    floatMs: median(times.float),
  };
}

function timed(times: number[], find: () => number[]): number[] {
  const from = performance.now();
  const found = find();
  times.push(performance.now() - from);
  return found;
}

/** Returns the ten nearest without sorting all. */
function topOf<Row extends { chunk: number }>(rows: readonly Row[], similarity: (row: Row) => number): number[] {
  const top: { chunk: number; near: number }[] = [];
  for (const row of rows) {
    const near = similarity(row);
    if (top.length === limit && near <= (top.at(-1)?.near ?? 0)) continue;
    const at = top.findIndex((other) => other.near < near);
    top.splice(at < 0 ? top.length : at, 0, { chunk: row.chunk, near });
    if (top.length > limit) top.pop();
  }
  return top.map(({ chunk }) => chunk);
}

/** Both have the length 1. */
function cosineOf(unit: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < other.length; at++) sum += (unit[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

function shareOf(found: readonly number[], wanted: readonly number[]): number {
  return wanted.filter((chunk) => found.includes(chunk)).length / wanted.length;
}
