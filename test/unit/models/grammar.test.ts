import { describe, expect, it } from 'vitest';
import { grammarHelp, parsePrompt, type Command } from '../../../models/offline-editor/grammar.ts';
import { endOfQuoted, quote, unquote } from '../../../models/offline-editor/literals.ts';
import { anyCharacter, fc, propertyRuns } from '../../support/properties.ts';

const commandsOf = (prompt: string) => parsePrompt(prompt).map(({ commands }) => commands);
const replace = (old: string, next: string, path: string): Command => ({ kind: 'replace', old, new: next, path });
const remove = (path: string): Command => ({ kind: 'delete', path });

const understood: [string, Command[]][] = [
  ['Replace "a" with "b" in README.md', [replace('a', 'b', 'README.md')]],
  ['replace "a" WITH "b" IN README.md.', [replace('a', 'b', 'README.md')]],
  ['Please replace “a b” with “c” in `docs/x y.md`!', [replace('a b', 'c', 'docs/x y.md')]],
  ["Replace 'don't' with 'do not' in a.md", [replace("don't", 'do not', 'a.md')]],
  ['Replace ‘it’s’ with ’is’ in a.md', [replace('it’s', 'is', 'a.md')]],
  ['Replace `foo()` with `$&` in src/a.ts', [replace('foo()', '$&', 'src/a.ts')]],
  ['Replace "say \\"hi\\"" with "a\\nb\\t\\\\" in a', [replace('say "hi"', 'a\nb\t\\', 'a')]],
  ['Replace "a. b; c" with "" in the file a.md', [replace('a. b; c', '', 'a.md')]],
  ['Replace "a"\n  with "b"\n  in a.md', [replace('a', 'b', 'a.md')]],
  ['Replace "多" with "😀" in docs/日本.md', [replace('多', '😀', 'docs/日本.md')]],
  ['Replace "a" with "b" everywhere.', [{ kind: 'replace-everywhere', old: 'a', new: 'b' }]],
  ['Create a new file docs/new.md with "# Title\\n"', [{ kind: 'create', path: 'docs/new.md', text: '# Title\n' }]],
  ['Create a.md with "one\ntwo"', [{ kind: 'create', path: 'a.md', text: 'one\ntwo' }]],
  ['Append "more" to a.md', [{ kind: 'append', path: 'a.md', text: 'more' }]],
  ['DELETE .github/old.yml', [remove('.github/old.yml')]],
  ['Rename a.md to b.md', [{ kind: 'rename', from: 'a.md', to: 'b.md' }]],
  ['Run "npm test && echo \\"ok\\""', [{ kind: 'run', command: 'npm test && echo "ok"' }]],
  [
    'Delete a.md and delete b.md, then delete c.md; delete d.md',
    [remove('a.md'), remove('b.md'), remove('c.md'), remove('d.md')],
  ],
  [
    'Delete a.md, delete b.md. Then delete c.md\n\nAnd finally delete d.md',
    ['a.md', 'b.md', 'c.md', 'd.md'].map(remove),
  ],
  ['- Delete a.md\r\n* Delete b.md\r\n2. Delete c.md\r\n', ['a.md', 'b.md', 'c.md'].map(remove)],
];

const refused = [
  'Make the documentation better.',
  'Replace "a" with "b"',
  'Replace "" with "b" everywhere',
  'Replace a with b in c',
  'Replace "a" with "b in c',
  'Replace "a" with "b" in c.md unless it is Tuesday',
  'Delete a.md, if nobody uses it',
  'Delete a.md and make tea',
  'Delete a.md delete b.md',
  'Delete a.md?',
  'Delete',
  'Delete ""',
  'Deleted a.md',
];

describe('the grammar of the offline editor', () => {
  it.each(understood)('understands %j', (prompt, commands) => {
    expect(commandsOf(prompt).flat()).toEqual(commands);
  });

  it.each(refused)('does not understand %j', (prompt) => {
    expect(parsePrompt(prompt)).toEqual([{ text: prompt, commands: null }]);
  });

  it('keeps the sentences around one it does not understand', () => {
    expect(parsePrompt('Delete a.md. Say "x. y" loudly. Delete b.md\nIt is 5" wide\nDelete c.md')).toEqual([
      { text: 'Delete a.md.', commands: [remove('a.md')] },
      { text: 'Say "x. y" loudly.', commands: null },
      { text: 'Delete b.md', commands: [remove('b.md')] },
      { text: 'It is 5" wide', commands: null },
      { text: 'Delete c.md', commands: [remove('c.md')] },
    ]);
  });

  it('understands every form that its help names', () => {
    for (const form of grammarHelp) expect(commandsOf(form)[0]).toHaveLength(1);
  });

  it('finds nothing in an empty prompt', () => {
    expect(parsePrompt(' \n. ')).toEqual([]);
  });

  it('never throws, and loses no word of any text', () => {
    const noise = fc.array(
      fc.oneof(
        fc.string({ unit: anyCharacter }),
        fc.constantFrom(
          'Replace ',
          'with',
          '"',
          '“',
          '`',
          "'",
          '\\',
          ' and ',
          ' in ',
          'everywhere',
          '. ',
          '\n',
          'Delete x',
        ),
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(noise, (pieces) => {
        const prompt = pieces.join('');
        let at = 0;
        for (const { text } of parsePrompt(prompt)) {
          expect(text).not.toBe('');
          at = prompt.indexOf(text, at);
          expect(at).not.toBe(-1);
          at += text.length;
        }
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('parses every quoted text back', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string(), (text, rest) => {
        const written = quote(text);
        expect(endOfQuoted(written + rest, 0)).toBe(written.length);
        expect(unquote(written)).toBe(text);
      }),
    );
  });

  it('parses every quoted command back', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(text, text, text, (old, next, path) => {
        fc.pre(path.trim() !== '');
        const prompt = `Replace ${quote(old)} with ${quote(next)} in ${quote(path)}`;
        expect(commandsOf(`${prompt}. ${prompt}`)).toEqual([[replace(old, next, path)], [replace(old, next, path)]]);
      }),
    );
  });

  it.each(['“', '"', 'Replace “', 'Delete a. ', 'x. ', '1. ', 'Replace "a" with “'])(
    'parses a long prompt of %j in reasonable time',
    (piece) => {
      const sentences = parsePrompt(piece.repeat(Math.ceil(100_000 / piece.length)));
      expect(sentences.length).toBeLessThanOrEqual(501);
    },
  );
});
