import type { Chunk } from './chunk-page.ts';
import { findIdentifiers, termsOfIdentifier } from './identifiers.ts';
import { linesOf, plainText } from '../read/markdown-lines.ts';
import type { SourcePage } from '../read/source-page.ts';
import { termsOf } from './words.ts';

/**
 * Terms of a passage by column of the index, in reading order; `code` repeats each of its terms a few times at most.
 */
export interface ChunkTerms {
  title: string[];
  headings: string[];
  body: string[];
  code: string[];
}

const maxRepeats = 3;
const codeSpans = /(`{1,3})([^`]{1,300})\1/g;

/**
 * Analyzes a passage: prose is stemmed and loses its stop words; identifiers are indexed whole and in parts, in a
 * separate column.
 */
export function analyseChunk(page: SourcePage, chunk: Chunk, isFirst: boolean): ChunkTerms {
  const passage = chunk.before + page.content.slice(chunk.start, chunk.end) + chunk.after;
  const { prose, code } = splitCode(passage);
  const text = plainText(prose);
  const { description = '', keywords = [], tags = [] } = page.metadata;
  const about = isFirst ? `${description} ${keywords.join(' ')}` : '';
  const identifiers = new Map<string, number>();
  const codeTerms: string[] = [];
  const add = (term: string) => {
    const repeats = identifiers.get(term) ?? 0;
    if (repeats < maxRepeats) codeTerms.push(term);
    identifiers.set(term, repeats + 1);
  };
  const addAll = (source: string, inCode: boolean) => {
    for (const identifier of findIdentifiers(source, { inCode }))
      for (const term of termsOfIdentifier(identifier)) add(term);
  };
  for (const term of termsOf(page.path, { stopWords: true })) add(term);
  addAll(page.metadata.title, false);
  addAll(chunk.headings.join('\n'), false);
  for (const match of prose.matchAll(codeSpans)) addAll(match[2] ?? '', true);
  addAll(text, false);
  addAll(code, true);
  return {
    title: termsOf(page.metadata.title.slice(0, 300), { stopWords: true }),
    headings: termsOf(chunk.headings.join('\n').slice(0, 1000), { stopWords: true }),
    body: [...termsOf(about), ...termsOf(text), ...termsOf(tags.join(' '))],
    code: codeTerms,
  };
}

function splitCode(passage: string): { prose: string; code: string } {
  if (!passage.includes('```') && !passage.includes('~~~')) return { prose: passage, code: '' };
  const prose: string[] = [];
  const code: string[] = [];
  for (const line of linesOf(passage))
    (line.kind === 'code' ? code : prose).push(line.kind === 'fence' ? '' : passage.slice(line.start, line.end));
  return { prose: prose.join('\n'), code: code.join('\n') };
}
