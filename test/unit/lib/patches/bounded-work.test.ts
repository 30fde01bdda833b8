import fc from 'fast-check';
import { expect, it } from 'vitest';
import { changeBetween } from '../../../../lib/patches/change-between.ts';
import { propertyRuns } from '../../../support/property-runs.ts';

const mode = 'new file mode 100644\n';
const blob = (name: string) => Buffer.from(name.padEnd(20)).toString('hex');

/** `count` places of a file, each with `lines` lines in the place of one. */
function placesOf(count: number, lines: number, word: string): string {
  const hunks = Array.from({ length: count }, (_, place) => {
    const added = Array.from({ length: lines }, (_, line) => `+${word} ${place} ${line}\n`);
    return `@@ -${place * 10 + 1} +1,${lines} @@\n-base ${place}\n${added.join('')}`;
  });
  const head = `diff --git a/base.txt b/base.txt\nindex ${blob('base')}..${blob(word)} 100644\n--- a/base.txt\n+++ b/base.txt\n`;
  return head + hunks.join('');
}

/** `count` new files of `lines` lines each. */
function filesOf(count: number, lines: number, word: string): string {
  const files = Array.from({ length: count }, (_, file) => {
    const path = `b/${word}/${file}.txt`;
    const added = Array.from({ length: lines }, (_, line) => `+${word} ${file} ${line}\n`);
    const head = `diff --git a/${word}/${file}.txt ${path}\n${mode}index ${'0'.repeat(40)}..${blob(`${word}${file}`)}\n`;
    return `${head}--- /dev/null\n+++ ${path}\n@@ -0,0 +1,${lines} @@\n${added.join('')}`;
  });
  return files.join('');
}

/** Seconds of this thread's processor. */
function costOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(before).user / 1e6;
}

// without a budget these take from 40 seconds to many minutes
it.each([
  ['many lines at many places', placesOf(300, 600, 'a'), placesOf(300, 600, 'b')],
  ['more files than can be compared with each other', filesOf(5_000, 1, 'x'), filesOf(5_000, 1, 'y')],
  ['large files that could be renames', filesOf(90, 1_000, 'x'), filesOf(90, 1_000, 'y')],
])('compares %s in a few seconds', (_, before, after) => {
  expect(costOf(() => changeBetween(before, after))).toBeLessThan(8);
});

it.each([
  ['lines', filesOf(1, 180_000, 'y'), filesOf(1, 220_000, 'y')],
  ['characters', filesOf(1, 1, 'y'), filesOf(1, 1, 'y'.repeat(16_000_000))],
])('names the files alone where both patches have too many %s together', (_, less, more) => {
  const before = filesOf(1, 190_000, 'x');
  expect(changeBetween(before, less)).not.toMatch(/too large/);
  expect(changeBetween(before, more)).toMatch(/too large to be compared[^\n]*\nD\tx\/0\.txt\n[^+]*$/);
});

it('takes no longer than its budget whatever the places, and answers lines in proportion to what it was given', () => {
  const size = fc.record({ count: fc.integer({ min: 1, max: 400 }), lines: fc.integer({ min: 1, max: 400 }) });
  fc.assert(
    fc.property(size, size, (one, other) => {
      const [before, after] = [placesOf(one.count, one.lines, 'a'), placesOf(other.count, other.lines, 'b')];
      let change = '';
      expect(costOf(() => (change = changeBetween(before, after)))).toBeLessThan(5);
      expect(change.length).toBeLessThan(2 * (before.length + after.length));
    }),
    { numRuns: propertyRuns(12) },
  );
});
