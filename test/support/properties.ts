import fc from 'fast-check';

const percent = Number(process.env['PROPERTY_RUNS'] ?? 100);

// the same cases in every run, so that a failure is caused by the change
fc.configureGlobal({ seed: Number(process.env['PROPERTY_SEED'] ?? 1), numRuns: propertyRuns(100) });

export { fc };

const surrogates = { first: 0xd800, count: 0x800 };

/**
 * Generates a character: a code point that is no surrogate. It is the `binary` of fast-check, which takes a second of
 * every process to build a table of all of them.
 */
export const anyCharacter = fc.integer({ min: 0, max: 0x10ffff - surrogates.count }).map(
  (at) => String.fromCodePoint(at < surrogates.first ? at : at + surrogates.count),
  (value) => {
    const point = typeof value === 'string' && value.length > 0 ? value.codePointAt(0)! : -1;
    if (point < 0 || String.fromCodePoint(point) !== value) throw new Error('not one character');
    return point < surrogates.first ? point : point - surrogates.count;
  },
);

/** Returns the number of runs of a property; `PROPERTY_RUNS` is a percentage of the full number. */
export function propertyRuns(full: number): number {
  return Math.max(1, Math.ceil((full * percent) / 100));
}
