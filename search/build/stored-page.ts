import type { SQLOutputValue } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import type { PageMetadata } from '../read/source-page.ts';

/** Returns the Markdown of a row of `pages`. */
export function contentOf(row: Record<string, SQLOutputValue>): string {
  if (!(row.content instanceof Uint8Array)) return '';
  const bytes = Number(row.is_packed) === 1 ? zstdDecompressSync(row.content) : row.content;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/** Returns a title as one line of plain text, without control characters and changes of direction. */
export function metadataOf(text: SQLOutputValue | undefined): PageMetadata {
  const metadata: PageMetadata = JSON.parse(String(text));
  const title = metadata.title.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return { ...metadata, title };
}

export function textsOf(text: SQLOutputValue | undefined): string[] {
  const texts: string[] = JSON.parse(String(text));
  return texts;
}
