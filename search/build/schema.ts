import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** The full-text columns in the order of their weights. */
const columns = ['title', 'headings', 'body', 'code', 'facets'] as const;

const tables = `
create table meta (key text primary key, value text not null) without rowid;
create table pages (
  id integer primary key, path text not null unique, hash text not null, title text not null, metadata text not null, language text not null, boost real not null,
  first_chunk integer not null, chunk_count integer not null, anchors text not null, is_packed integer not null, content blob not null,
  readers text
);
create table sources (page integer primary key, file text not null, name text not null, position integer);
create table page_order (position integer primary key, page integer not null);
create table chunks (
  id integer primary key, page integer not null, ordinal integer not null, start integer not null, end integer not null,
  before text not null, after text not null,
  anchor text, headings text not null, terms blob not null
);
create table vectors (chunk integer primary key, hash text not null, vector blob not null);
create table vector_space (model text not null, dimensions integer not null, center blob not null);
create table sketches (id integer primary key, chunks blob not null, bits blob not null);
create table common_terms (term text primary key, count integer not null) without rowid;
create virtual table chunk_text using fts5(${columns.join(', ')}, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '._-'");
`;

const vocabulary = `create virtual table temp.vocabulary using fts5vocab(main, chunk_text, row)`;

/** Opens an empty artifact for one bulk load. */
export function createArtifact(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec('pragma page_size = 4096');
  prepareForBulk(database);
  database.exec(tables);
  database.exec(vocabulary);
  database.exec(`insert into chunk_text (chunk_text, rank) values ('hashsize', 33554432)`);
  return database;
}

/** Opens an artifact to change: a private copy that becomes visible by renaming, so it needs no journal. */
export function openArtifactForChange(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  prepareForBulk(database);
  database.exec(vocabulary);
  return database;
}

/**
 * Opens a finished artifact, read-only. It never changes, so SQLite does not have to lock it or look for a journal at
 * every statement.
 */
export function openArtifact(file: string): DatabaseSync {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, { readOnly: true });
  try {
    database.exec('pragma temp_store = memory; pragma cache_size = -16384; pragma mmap_size = 1073741824');
    database.exec(vocabulary);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function prepareForBulk(database: DatabaseSync): void {
  database.exec(
    'pragma journal_mode = off; pragma synchronous = off; pragma locking_mode = exclusive; pragma temp_store = memory; pragma cache_size = -65536',
  );
}
