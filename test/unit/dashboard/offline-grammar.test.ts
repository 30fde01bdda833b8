import { expect, it } from 'vitest';
import { sentences } from '../../../dashboard/jobs/offline-grammar.tsx';
import { grammarHelp } from '../../../models/offline-editor/grammar.ts';

it('lists every sentence that the offline model understands', () => {
  expect(sentences.map(([sentence]) => sentence)).toEqual(grammarHelp);
});
