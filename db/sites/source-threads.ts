import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { ofSite, type SourceRef } from './site-sources.ts';
import { toStoredText } from '../stored-text.ts';

/** How far a source has been read. */
export interface ReadingState {
  /** Time of the newest change that has been read; null while the whole list has not been read. */
  readUntil: string | null;
  /** Version of the list of changes since then. */
  etag: string | null;
  /** When the whole list was last read. */
  listedAt: Date | null;
}

/** A thread as it was last read, without its content. */
export interface SourceThread {
  id: string;
  /** Differs when its content may have changed. */
  version: string;
  /** Hash of its content; null if it is not indexed. */
  name: string | null;
}

const ofSource = `${ofSite} and source = $3`;

/** Threads of forges and forums, by which the next index asks only for changes. */
export type SourceThreadStore = ReturnType<typeof createSourceThreadStore>;

/** Creates the store of the threads that sites index. */
export function createSourceThreadStore(pool: Pool) {
  const keyOf = ({ id, organizationId, prefix }: SourceRef) => [id, organizationId, prefix];
  return {
    /** Returns how far a source has been read with these settings. A change of settings starts over. */
    async open(source: SourceRef, settings: string): Promise<ReadingState> {
      await pool.query(`delete from thread_sources where ${ofSource} and settings <> $4`, [...keyOf(source), settings]);
      await pool.query(
        `insert into thread_sources (site_id, source, settings)
         select id, $3, $4 from sites where id = $1 and organization_id = $2 on conflict do nothing`,
        [...keyOf(source), settings],
      );
      const { rows } = await pool.query<ReadingState>(
        `select read_until as "readUntil", etag, listed_at as "listedAt" from thread_sources where ${ofSource}`,
        keyOf(source),
      );
      return rows[0] ?? { readUntil: null, etag: null, listedAt: null };
    },

    async list(source: SourceRef): Promise<SourceThread[]> {
      const { rows } = await pool.query<SourceThread>(
        `select id, changed_at as version, name from source_threads where ${ofSource} order by id`,
        keyOf(source),
      );
      return rows;
    },

    /** Returns the contents of threads by their ids. */
    async contents(source: SourceRef, ids: readonly string[]): Promise<Map<string, string>> {
      const { rows } = await pool.query<{ id: string; content: string }>(
        `select id, content from source_threads where ${ofSource} and id = any($4) and content is not null`,
        [...keyOf(source), ids],
      );
      return new Map(rows.map(({ id, content }) => [id, content]));
    },

    async put(source: SourceRef, thread: SourceThread & { content: string | null }): Promise<void> {
      const { id, version, content, name } = thread;
      await pool.query(
        `insert into source_threads (site_id, source, id, changed_at, content, name)
         select site_id, source, $4, $5, $6, $7 from thread_sources where ${ofSource}
         on conflict (site_id, source, id) do update set
           changed_at = excluded.changed_at, content = excluded.content, name = excluded.name`,
        [...keyOf(source), id, version, content === null ? null : toStoredText(content), name],
      );
    },

    async remove(source: SourceRef, ids: readonly string[]): Promise<void> {
      await pool.query(`delete from source_threads where ${ofSource} and id = any($4)`, [...keyOf(source), ids]);
    },

    /** Records that everything up to here has been read. */
    async finish(source: SourceRef, { readUntil, etag, listedAt }: ReadingState): Promise<void> {
      await pool.query(`update thread_sources set read_until = $4, etag = $5, listed_at = $6 where ${ofSource}`, [
        ...keyOf(source),
        readUntil,
        etag,
        listedAt,
      ]);
    },

    /** Deletes what is stored of a source, so that the next index reads all of its threads. */
    async forget(source: SourceRef): Promise<void> {
      await pool.query(`delete from thread_sources where ${ofSource}`, keyOf(source));
    },

    /** Forgets the sources that the site no longer has. */
    async keepOnly({ id, organizationId }: SiteRef, prefixes: readonly string[]): Promise<void> {
      await pool.query(`delete from thread_sources where ${ofSite} and source <> all($3)`, [
        id,
        organizationId,
        prefixes,
      ]);
    },
  };
}
