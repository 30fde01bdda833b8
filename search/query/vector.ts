/** Number of dimensions that a sketch covers, with one bit each. */
const sketchedDimensions = 512;

/** Returns a vector of length 1 in the same direction; null when it has none. */
export function unitOf(vector: readonly number[]): Float32Array | null {
  const length = Math.hypot(...vector);
  if (vector.length === 0 || !Number.isFinite(length) || length === 0) return null;
  return Float32Array.from(vector, (value) => value / length);
}

/** Returns a vector as a scale and one byte per number. */
export function packVector(unit: Float32Array): Uint8Array {
  const largest = unit.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const values = Int8Array.from(unit, (value) => Math.round((value / largest) * 127));
  const packed = new Uint8Array(4 + values.length);
  new DataView(packed.buffer).setFloat32(0, largest / 127, true);
  packed.set(new Uint8Array(values.buffer), 4);
  return packed;
}

/** Returns the numbers of a packed vector; each is multiplied by the scale. */
export function valuesOf(packed: Uint8Array): { values: Int8Array; scale: number } {
  const scale = new DataView(packed.buffer, packed.byteOffset, 4).getFloat32(0, true);
  return { values: new Int8Array(packed.buffer, packed.byteOffset + 4, packed.byteLength - 4), scale };
}

/** Returns the cosine of the angle between a question's vector and a packed one. */
export function similarityOf(unit: Float32Array, packed: Uint8Array): number {
  const { values, scale } = valuesOf(packed);
  let sum = 0;
  for (let at = 0; at < values.length; at++) sum += (unit[at] ?? 0) * (values[at] ?? 0);
  return sum * scale;
}

/** Returns one bit for each of the first dimensions: whether the scaled vector is above or below the center. */
export function sketchOf(unit: Float32Array | Int8Array, center: Float32Array, scale = 1): Int32Array {
  const sketch = new Int32Array(sketchWords(unit.length));
  for (let at = 0; at < Math.min(unit.length, sketchedDimensions); at++)
    if ((unit[at] ?? 0) * scale > (center[at] ?? 0)) sketch[at >> 5] = (sketch[at >> 5] ?? 0) | (1 << (at & 31));
  return sketch;
}

/** Returns the number of 32-bit words of a sketch. */
export function sketchWords(dimensions: number): number {
  return Math.ceil(Math.min(dimensions, sketchedDimensions) / 32);
}

/** Returns the number of bits in which a sketch differs from the one that starts at a position of a list. */
export function distanceAt(sketches: Int32Array, start: number, sketch: Int32Array): number {
  let distance = 0;
  for (let at = 0; at < sketch.length; at++) {
    let bits = (sketches[start + at] ?? 0) ^ (sketch[at] ?? 0);
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    distance += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return distance;
}
