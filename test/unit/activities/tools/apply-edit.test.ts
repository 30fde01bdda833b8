import { expect, it, vi } from 'vitest';
import { applyEdit, type Edit } from '../../../../activities/tools/edit/apply-edit.ts';

// slow or busy machines need more time
vi.setConfig({ testTimeout: 60_000 });

/** The text after an edit and the stage that matched, or why nothing was done. */
function edited(text: string, edit: Edit) {
  const result = applyEdit(text, edit);
  return 'failure' in result ? result.failure.reason : [result.stage, result.text];
}

it('inserts a replacement literally, without expanding dollar signs', () => {
  const dollars = "$& $1 $$ $` $' $<name>";
  expect(edited('one two three\n', { old: 'two', new: dollars })).toEqual(['exact', `one ${dollars} three\n`]);
  expect(edited('two two\n', { old: 'two', new: dollars, replaceAll: true })).toEqual([
    'exact',
    `${dollars} ${dollars}\n`,
  ]);
});

it('replaces nothing in between if only the first and last lines match', () => {
  expect(edited('start\na\nb\nend\n', { old: 'start\nx\ny\nend', new: 'gone' })).toBe('not-found');
});

it.each(['', ' ', '\n', '\t \r\n', '\u00a0'])('refuses to replace the blank text %j', (old) => {
  expect(edited('a b\n', { old, new: 'x', replaceAll: true })).toBe('blank-old');
});

it('leaves tabs and spaces alone outside the replacement', () => {
  expect(edited('\tif (a) {\n\t\tb();\n        c();\n\t}\n', { old: 'b()', new: 'd()' })).toEqual([
    'exact',
    '\tif (a) {\n\t\td();\n        c();\n\t}\n',
  ]);
});

it('respects leading and trailing whitespace of old and new', () => {
  expect(edited('a  =  1;\n', { old: '  =  ', new: '=' })).toEqual(['exact', 'a=1;\n']);
});

it('matches several LF lines in a CRLF file and writes CRLF', () => {
  expect(edited('a\r\nb\r\nc\r\n', { old: 'a\nb', new: 'a\nx\ny' })).toEqual(['line endings', 'a\r\nx\r\ny\r\nc\r\n']);
  expect(edited('a\r\nb\r\nc\r\n', { old: 'b', new: 'x\ny' })).toEqual(['exact', 'a\r\nx\r\ny\r\nc\r\n']);
  expect(edited('a\nb\n', { old: 'a\r\nb', new: 'x\r\ny' })).toEqual(['line endings', 'x\ny\n']);
});

it('never inserts anything inside a CRLF', () => {
  expect(edited('a\r\nb\r\n', { old: '\nb', new: '\nx\nb' })).toEqual(['line endings', 'a\r\nx\r\nb\r\n']);
  expect(edited('a\r\nb\r\n', { old: 'a\r', new: 'x\r' })).toBe('not-found');
});

it('keeps the line endings of each region of a file with mixed ones', () => {
  const mixed = 'a\r\nb\nc\r\nd\n';
  expect(edited(mixed, { old: 'a', new: 'a\na' })).toEqual(['exact', 'a\r\na\r\nb\nc\r\nd\n']);
  expect(edited(mixed, { old: 'b', new: 'b\nb' })).toEqual(['exact', 'a\r\nb\nb\nc\r\nd\n']);
  expect(edited(mixed, { old: 'a\nb\nc\n', new: 'a\nx\nc\n' })).toEqual(['line endings', 'a\r\nx\nc\r\nd\n']);
});

it('ignores trailing whitespace on either side', () => {
  expect(edited('a  \nb\t\nc\n', { old: 'a\nb\nc', new: 'a\nx\nc' })).toEqual(['trailing whitespace', 'a  \nx\nc\n']);
  expect(edited('a\nb\nc\n', { old: 'a \nb  \nc', new: 'a \nx  \nc' })).toEqual(['trailing whitespace', 'a\nx  \nc\n']);
  expect(edited('a\r\nb\r\n', { old: 'a\nb  ', new: 'a\nx' })).toEqual(['trailing whitespace', 'a\r\nx\r\n']);
});

it('matches trailing whitespace of old to the end of a line', () => {
  expect(edited('return a;\nreturn ab;\n', { old: 'return a  ', new: 'return b' })).toBe('not-found');
});

it('indents the replacement like the file', () => {
  const file = 'class A {\n    run() {\n        go();\n    }\n}\n';
  const old = 'run() {\n    go();\n}';
  const shifted = 'run() {\n    if (x) {\n        go();\n    }\n}';
  const expected = 'class A {\n    run() {\n        if (x) {\n            go();\n        }\n    }\n}\n';
  expect(edited(file, { old, new: shifted })).toEqual(['indentation', expected]);
  const deeper = (text: string) => text.replaceAll(/^/gm, '            ');
  expect(edited(file, { old: deeper(old), new: deeper(shifted) })).toEqual(['indentation', expected]);
});

it('converts spaces of the edit into the file’s tabs', () => {
  const file = 'f() {\n\tif (a) {\n\t\tb();\n\t}\n}\n';
  expect(
    edited(file, { old: '    if (a) {\n        b();\n    }', new: '    if (a) {\n        b();\n        c();\n    }' }),
  ).toEqual(['indentation', 'f() {\n\tif (a) {\n\t\tb();\n\t\tc();\n\t}\n}\n']);
});

it('shifts no block whose lines are off by different amounts', () => {
  expect(edited('  a\n    b\n', { old: 'a1\nb', new: 'x' })).toBe('not-found');
  expect(edited('  a\n      b\n', { old: 'a\n  b', new: 'x' })).toBe('not-found');
});

it('does not shift a replacement further left than there is space', () => {
  expect(edited('a\n  b\n', { old: '  a\n    b', new: 'x\n  b' })).toBe('not-found');
});

it('matches plain to typographic punctuation and keeps it in unchanged text', () => {
  const file = 'It’s “here” — see\u00a0page 1.\n';
  expect(edited(file, { old: `It's "here" - see page 1.`, new: `It's "here" - see page 2.` })).toEqual([
    'Unicode punctuation',
    'It’s “here” — see\u00a0page 2.\n',
  ]);
  expect(edited(`It's 1\n`, { old: 'It’s 1', new: 'It’s 2' })).toEqual(['Unicode punctuation', `It's 2\n`]);
});

it('stops at the first stage with more than one match', () => {
  const result = applyEdit('a\nb\n\na\nb\n\n\ta\n', { old: 'a\nb', new: 'x' });
  expect(result).toEqual({ failure: { reason: 'ambiguous', stage: 'exact', lines: [1, 4], count: 2 } });
  expect(applyEdit('aaa\n', { old: 'aa', new: 'b' })).toMatchObject({ failure: { reason: 'ambiguous', count: 2 } });
  expect(applyEdit('\ta\n\tb\n  a\n  b\n', { old: 'a\nb', new: 'x' })).toMatchObject({
    failure: { reason: 'ambiguous', stage: 'indentation', lines: [1, 3] },
  });
});

it('replaces every match with replaceAll, each in its own form', () => {
  expect(edited('\ta\n\tb\n  a\n  b\n', { old: 'a\nb', new: 'a\nc\nb', replaceAll: true })).toEqual([
    'indentation',
    '\ta\n\tc\n\tb\n  a\n  c\n  b\n',
  ]);
  expect(edited('aaaa\n', { old: 'aa', new: 'a', replaceAll: true })).toEqual(['exact', 'aa\n']);
  expect(edited('x\ny\n', { old: 'x\ny', new: 'x\ny\nz', replaceAll: true })).toEqual(['exact', 'x\ny\nz\n']);
});

it('keeps the newline at the end of a file, or its absence', () => {
  expect(edited('a\nb\n', { old: 'b\n', new: 'c' })).toEqual(['exact', 'a\nc\n']);
  expect(edited('a\r\nb\r\n', { old: 'b\r\n', new: 'c' })).toEqual(['exact', 'a\r\nc\r\n']);
  expect(edited('a\nb', { old: 'b', new: 'c' })).toEqual(['exact', 'a\nc']);
  expect(edited('a\nb', { old: 'b\n', new: 'c\n' })).toEqual(['line endings', 'a\nc']);
  expect(edited('a\n', { old: 'a\n', new: '' })).toEqual(['exact', '']);
});

it.each([
  ['a part of old', 'const gone = 1;\nconst kept = 2;\n', 'const kept = 2;\n'],
  ['a word', 'nothing like it', 'kept'],
])('does not take %s for an edit that is applied already', (_, old, replacement) => {
  expect(applyEdit('const kept = 2;\n', { old, new: replacement })).toEqual({ failure: { reason: 'not-found' } });
});

it('reports that an edit seems to be applied already', () => {
  expect(applyEdit('a\nnew text\nb\n', { old: 'old text', new: 'new text' })).toEqual({
    failure: { reason: 'already-applied', line: 2 },
  });
});

it('refuses an edit that changes nothing', () => {
  expect(edited('a\n', { old: 'a', new: 'a' })).toBe('same');
  expect(edited('a\r\nb\r\n', { old: 'a\r\nb', new: 'a\nb' })).toBe('same');
  expect(edited('a\n', { old: 'a\n', new: 'a' })).toBe('no-change');
});

it('returns the changed lines as they are afterwards', () => {
  expect(applyEdit('a\nb\na\n', { old: 'a', new: 'x\ny', replaceAll: true })).toMatchObject({
    text: 'x\ny\nb\nx\ny\n',
    changes: [
      { line: 1, lineCount: 2 },
      { line: 4, lineCount: 2 },
    ],
  });
});

it('handles a long run of blanks in linear time', () => {
  const blanks = ' '.repeat(2_000_000);
  expect(edited(`a${blanks}b\nc \nd\n`, { old: 'c\nd', new: 'e' })).toEqual([
    'trailing whitespace',
    `a${blanks}b\ne\n`,
  ]);
});

it('handles endlessly repetitive text', { tags: 'slow' }, () => {
  const same = 'a'.repeat(2_000_000);
  expect(edited(same, { old: `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`, new: 'x' })).toBe('not-found');
  expect(edited(same, { old: 'a', new: 'b', replaceAll: true })).toBe('too-many');
  expect(edited('}\n'.repeat(200_000), { old: `${'  }\n'.repeat(500)}x`, new: 'x' })).toBe('not-found');
  expect(edited('}\n'.repeat(5_000), { old: '  }\n  }', new: '  x', replaceAll: true })).toBe('too-many');
});

it('refuses an edit that would blow up the file, before applying it', () => {
  expect(edited('a\n'.repeat(50_000), { old: 'a', new: 'b'.repeat(400_000), replaceAll: true })).toBe('too-large');
  expect(edited('ab'.repeat(50_000), { old: 'b', new: '\n', replaceAll: true })).toEqual([
    'exact',
    'a\n'.repeat(50_000),
  ]);
});
