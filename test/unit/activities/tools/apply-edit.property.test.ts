import { expect, it, vi } from 'vitest';
import { applyEdit, type Edit } from '../../../../activities/tools/edit/apply-edit.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

// slow or busy machines need more time
vi.setConfig({ testTimeout: 60_000 });

const RUNS = 20_000;

/** Fragments that make texts repetitive and contain everything that trips a careless replacement. */
const piece = fc.constantFrom(
  'a',
  'b',
  'ab',
  'foo(',
  ') ',
  '$&',
  '$1',
  '$$',
  "$'",
  '\\n',
  '\t',
  '  ',
  'é',
  '😀',
  '“',
  '-',
  '\n',
  '\n\n',
  '}\n',
);
const textOf = (least: number, most: number) =>
  fc.array(piece, { minLength: least, maxLength: most }).map((pieces) => pieces.join(''));

it('does what split and join do, for every exact match', () => {
  const cases = fc.record({
    text: textOf(3, 30),
    from: fc.nat(10_000),
    length: fc.integer({ min: 1, max: 20 }),
    to: textOf(0, 6),
    all: fc.boolean(),
    crlf: fc.boolean(),
  });
  let applied = 0;
  fc.assert(
    fc.property(cases, ({ text, from, length, to, all, crlf }) => {
      const start = from % text.length;
      const old = text.slice(start, start + length);
      if (old.trim() === '' || !old.isWellFormed()) return;
      const native = (plain: string) => (crlf && text.includes('\n') ? plain.replaceAll('\n', '\r\n') : plain);
      const result = applyEdit(native(text), { old: native(old), new: to, replaceAll: all });
      const expected = reference(text, { old, new: to, replaceAll: all });
      if (expected === null || expected === text) {
        expect(result).toHaveProperty('failure');
        return;
      }
      applied += 1;
      expect(result).toMatchObject({ text: native(expected), stage: 'exact' });
    }),
    { numRuns: propertyRuns(RUNS) },
  );
  expect(applied).toBeGreaterThan(propertyRuns(RUNS / 2));
});

const word = fc.constantFrom('alpha', 'beta(x)', 'if (y) {', '}', 'return "it\'s" - now;', '$&', '');
const block = fc.array(fc.record({ depth: fc.nat(3), word }), { minLength: 1, maxLength: 5 });

interface Line {
  depth: number;
  word: string;
}

/** Numbers and names make every line unique, and no old line ends like a new one. */
function linesOf(lines: Line[], { name, unit, trail = '' }: { name: string; unit: string; trail?: string }): string[] {
  return lines.map(({ depth, word }, at) => `${unit.repeat(depth)}${word} ${at}${name}${trail}`);
}

const scenes = fc.record({
  before: block,
  old: block,
  next: block,
  after: block,
  crlf: fc.boolean(),
  final: fc.boolean(),
});

interface Scene {
  before: Line[];
  old: Line[];
  next: Line[];
  after: Line[];
  crlf: boolean;
  final: boolean;
}

/** Checks that an edit with approximate text produces the same file as one with the exact text. */
function checkScene(
  scene: Scene,
  given: { unit: string; trail?: string; roughly(lines: string[]): string[]; stages: string[] },
): void {
  const { unit, trail, roughly, stages } = given;
  const eol = scene.crlf ? '\r\n' : '\n';
  const before = linesOf(scene.before, { name: 'before', unit, trail });
  const after = linesOf(scene.after, { name: 'after', unit, trail });
  const old = linesOf(scene.old, { name: 'old', unit });
  const next = linesOf(scene.next, { name: 'next', unit });
  const end = scene.final ? eol : '';
  const text = [...before, ...old.map((line) => line + (trail ?? '')), ...after].join(eol) + end;
  const expected = [...before, ...next, ...after].join(eol) + end;
  const result = applyEdit(text, { old: roughly(old).join('\n'), new: roughly(next).join('\n') });
  expect(result).not.toHaveProperty('failure');
  expect(result).toMatchObject({ text: expected });
  expect(stages).toContain((result as { stage: string }).stage);
}

it('keeps CRLF when the edit uses LF', () => {
  fc.assert(
    fc.property(scenes, (scene) =>
      checkScene(
        { ...scene, crlf: true },
        { unit: '  ', roughly: (lines) => lines, stages: ['exact', 'line endings'] },
      ),
    ),
    { numRuns: propertyRuns(1_500) },
  );
});

it('matches lines with trailing whitespace in the file', () => {
  fc.assert(
    fc.property(scenes, fc.constantFrom(' ', '\t', '  \t'), (scene, trail) => {
      const crlf = { ...scene, old: [{ depth: 1, word: 'first' }, ...scene.old] };
      checkScene(crlf, { unit: '\t', trail, roughly: (lines) => lines, stages: ['trailing whitespace'] });
    }),
    { numRuns: propertyRuns(1_500) },
  );
});

it('indents the replacement like the file if the whole block is shifted', () => {
  const shifts = fc.constantFrom('  ', '    ', '\t');
  fc.assert(
    fc.property(scenes, shifts, (scene, added) => {
      const roughly = (lines: string[]) => lines.map((line) => added + line);
      checkScene(scene, { unit: '  ', roughly, stages: ['indentation'] });
    }),
    { numRuns: propertyRuns(1_500) },
  );
});

it('converts spaces into the file’s tabs', () => {
  fc.assert(
    fc.property(scenes, fc.constantFrom(2, 4, 8), (scene, width) => {
      const old = [{ depth: 1, word: 'first' }, ...scene.old];
      const roughly = (lines: string[]) => lines.map((line) => line.replaceAll('\t', ' '.repeat(width)));
      checkScene({ ...scene, old }, { unit: '\t', roughly, stages: ['indentation'] });
    }),
    { numRuns: propertyRuns(1_500) },
  );
});

it('keeps the typographic punctuation around a change', () => {
  const curly = (plain: string) => plain.replaceAll('"', '”').replaceAll("'", '’').replaceAll(' - ', ' — ');
  const sentence = fc.stringMatching(/^[a-z"' -]{0,12}$/);
  fc.assert(
    fc.property(
      fc.tuple(sentence, sentence),
      fc.stringMatching(/^[A-M]{1,6}$/),
      fc.stringMatching(/^[N-Z]{1,6}$/),
      ([head, tail], was, is) => {
        const text = `"start" ${head} ${was} ${tail} 'end'.\n`;
        const result = applyEdit(curly(text), { old: text, new: text.replace(was, () => is) });
        expect(result).toMatchObject({ text: curly(text).replace(was, () => is), stage: 'Unicode punctuation' });
      },
    ),
    { numRuns: propertyRuns(1_500) },
  );
});

/** The simplest implementation; null if the text does not occur, or occurs more than once and not all are meant. */
function reference(text: string, edit: Edit): string | null {
  const places = [...text].length === 0 ? 0 : countPlaces(text, edit.old);
  if (places === 0 || (places > 1 && edit.replaceAll !== true)) return null;
  const result = text.split(edit.old).join(edit.new);
  return text.endsWith('\n') && result !== '' && !result.endsWith('\n') ? `${result}\n` : result;
}

function countPlaces(text: string, sought: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += 1) if (text.startsWith(sought, at)) count += 1;
  return count;
}
