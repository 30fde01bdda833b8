import { expect, it } from 'vitest';
import { placeholderOf, sentences } from '../../../dashboard/jobs/offline-grammar.tsx';
import { grammarHelp } from '../../../models/offline-editor/grammar.ts';

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
