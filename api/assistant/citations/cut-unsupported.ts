import { createBlockReader, markerOf } from './blocks.ts';
import { createBlockCheck, isSentence, type CheckedSentence, type CitedPages } from './citations.ts';

/**
 * Creates a filter that leaves out the sentences of an answer that state what the pages they cite do not contain. Code
 * and a row of a table are left out as a whole, and a table without its head.
 */
export function createSupportFilter(pages: CitedPages) {
  const reader = createBlockReader();
  const check = createBlockCheck(pages);
  let leftOut = 0;

  function keptOf(sentences: CheckedSentence[]): string {
    const kept = sentences.filter(({ unsupported }) => unsupported.length === 0);
    leftOut += sentences.length - kept.length;
    if (kept.length === sentences.length) return kept.map(({ text }) => text).join('');
    if (!kept.some(({ text }) => isSentence(text))) return '';
    const marker = kept[0] === sentences[0] ? '' : markerOf(sentences[0]?.text ?? '');
    const end = /(?<!\s)\s*$/.exec(sentences.at(-1)?.text ?? '')?.[0] ?? '';
    return `${marker}${kept
      .map(({ text }) => text)
      .join('')
      .trimEnd()}${end}`;
  }

  function supportedOf(block: string): string {
    let text = '';
    /** The rows of the current table that are kept, with its head first; null outside of tables. */
    let rows: string[] | null = null;
    const endTable = () => {
      const kept = rows?.filter((row) => row !== '') ?? [];
      // the head and the line below it are no table
      if (kept.length === rows?.length || (rows?.[0] !== '' && kept.length > 2)) text += kept.join('');
      rows = null;
    };
    for (const { kind, sentences } of check(block)) {
      const kept = keptOf(sentences);
      if (kind === 'row') {
        rows ??= [];
        rows.push(kept);
        continue;
      }
      endTable();
      text += kept;
    }
    endTable();
    return text.trim() === '' ? '' : text;
  }

  return {
    /** Accepts more text of the answer and returns what is supported of the blocks that are complete. */
    push: (text: string): string => reader.push(text).map(supportedOf).join(''),
    /** Returns the rest at the end of the answer. */
    flush: (): string => supportedOf(reader.flush()),
    /** Returns how many statements were left out so far. */
    leftOut: (): number => leftOut,
  };
}
