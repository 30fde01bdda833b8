import { expect, it } from 'vitest';
import { placeholderOf, sentences, withPath } from '../../../../dashboard/jobs/offline-grammar.tsx';
import { grammarHelp } from '../../../../models/offline-editor/grammar.ts';

it('lists every sentence that the offline model understands', () => {
  expect(sentences.map(([sentence]) => sentence)).toEqual(grammarHelp);
});

it('finds the first placeholder of a sentence', () => {
  const firsts = sentences.map(([sentence]) => {
    const { start, end } = placeholderOf(sentence);
    return sentence.slice(start, end);
  });
  expect(firsts).toEqual(['a', 'a', 'PATH', 'text', 'PATH', 'PATH', 'command']);
});

it('names a file of the repository in sentences that leave it where it is', () => {
  const named = sentences.map(([sentence]) => withPath(sentence, 'docs/$&.md'));
  expect(named.filter((sentence) => sentence.includes('docs/$&.md'))).toEqual([
    'Replace "a" with "b" in docs/$&.md',
    'Append "text" to docs/$&.md',
  ]);
  expect(sentences.map(([sentence]) => withPath(sentence, undefined))).toEqual(grammarHelp);
});
