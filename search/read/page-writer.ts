import type { DatabaseSync } from 'node:sqlite';
import { zstdCompressSync } from 'node:zlib';
import { analyseChunk } from '../build/analyse-chunk.ts';
import { facetsOf, readerTerm } from '../build/facets.ts';
import { languageOf } from '../build/languages.ts';
import type { ChunkTerms } from '../build/analyse-chunk.ts';
import { chunkPage } from '../build/chunk-page.ts';
import type { Chunk } from '../build/chunk-page.ts';
import { contentOf, metadataOf } from '../build/stored-page.ts';
import type { SourcePage } from './source-page.ts';
import { packTerms } from '../query/term-vector.ts';

const worthPacking = 512;

/** Writes pages with their passages into an artifact, and counts the change in passages per term. */
export function createPageWriter(database: DatabaseSync) {
  const insertPage = database.prepare('insert into pages values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const insertChunk = database.prepare('insert into chunks values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const insertText = database.prepare(
    'insert into chunk_text (rowid, title, headings, body, code, facets) values (?, ?, ?, ?, ?, ?)',
  );
  const readPage = database.prepare('select * from pages where id = ?');
  const deleteText = database.prepare('delete from chunk_text where rowid = ?');
  const deleteChunk = database.prepare('delete from chunks where id = ?');
  const deleteVector = database.prepare('delete from vectors where chunk = ?');
  const deletePage = database.prepare('delete from pages where id = ?');
  const deleteSource = database.prepare('delete from sources where page = ?');
  const changes = new Map<string, number>();
  let nextPage = nextId(database, 'pages');
  let nextChunk = nextId(database, 'chunks');
  const isIncremental = nextPage > 1;

  function note(terms: ChunkTerms, by: number): void {
    const distinct = new Set([...terms.title, ...terms.headings, ...terms.body, ...terms.code]);
    for (const term of distinct) changes.set(term, (changes.get(term) ?? 0) + by);
  }

  function addChunk(page: SourcePage, pageId: number, { chunk, ordinal }: { chunk: Chunk; ordinal: number }): void {
    const id = nextChunk++;
    const terms = analyseChunk(page, chunk, ordinal === 0);
    insertChunk.run(
      id,
      pageId,
      ordinal,
      chunk.start,
      chunk.end,
      chunk.before,
      chunk.after,
      chunk.anchor,
      JSON.stringify(chunk.headings),
      packTerms(terms),
    );
    const { title, headings, body, code } = terms;
    insertText.run(id, title.join(' '), headings.join(' '), body.join(' '), code.join(' '), facetsOf(page).join(' '));
    if (isIncremental) note(terms, 1);
  }

  return {
    add(page: SourcePage, hash: string): void {
      const { chunks, anchors } = chunkPage(page.content, page.metadata.title);
      const { path, metadata, boost, restrictedTo } = page;
      const readers = restrictedTo === null ? null : JSON.stringify(restrictedTo.map(readerTerm));
      const id = nextPage++;
      const content = Buffer.from(page.content, 'utf8');
      const isPacked = content.length >= worthPacking;
      const stored = isPacked ? zstdCompressSync(content) : content;
      const facts = [
        JSON.stringify(metadata),
        languageOf(metadata.language),
        boost,
        nextChunk,
        chunks.length,
        JSON.stringify(anchors),
        isPacked ? 1 : 0,
      ];
      insertPage.run(id, path, hash, metadata.title, ...facts, stored, readers);
      for (const [ordinal, chunk] of chunks.entries()) addChunk(page, id, { chunk, ordinal });
    },

    /** Removes a page; its passages are analyzed again to update the counts. */
    remove(id: number): void {
      const row = readPage.get(id);
      if (row === undefined) return;
      const metadata = metadataOf(row.metadata);
      const page: SourcePage = {
        path: String(row.path),
        content: contentOf(row),
        metadata,
        restrictedTo: null,
        isHidden: false,
        order: null,
        boost: 1,
      };
      const first = Number(row.first_chunk);
      for (const [ordinal, chunk] of chunkPage(page.content, metadata.title).chunks.entries()) {
        note(analyseChunk(page, chunk, ordinal === 0), -1);
        deleteText.run(first + ordinal);
        deleteChunk.run(first + ordinal);
        deleteVector.run(first + ordinal);
      }
      deletePage.run(id);
      deleteSource.run(id);
    },

    /** Returns the change in the number of passages per term; facets are not counted. */
    countChanges(): ReadonlyMap<string, number> {
      return changes;
    },
  };
}

function nextId(database: DatabaseSync, table: 'pages' | 'chunks'): number {
  return Number(database.prepare(`select coalesce(max(id), 0) + 1 as next from ${table}`).get()?.next ?? 1);
}
