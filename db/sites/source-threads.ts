import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { toStoredText } from '../stored-text.ts';

/** Identifies a site's source of threads by its prefix. */
export interface ThreadSourceRef extends SiteRef {
  prefix: string;
}

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

/** Threads of forges and forums, by which the next index asks only for changes. */
export interface SourceThreadStore {
  /** Returns how far a source has been read with these settings. Other settings forget what was read. */
  open(source: ThreadSourceRef, settings: string): Promise<ReadingState>;
  list(source: ThreadSourceRef): Promise<SourceThread[]>;
  /** Returns the contents of threads by their ids. */
  contents(source: ThreadSourceRef, ids: readonly string[]): Promise<Map<string, string>>;
  put(source: ThreadSourceRef, thread: SourceThread & { content: string | null }): Promise<void>;
  remove(source: ThreadSourceRef, ids: readonly string[]): Promise<void>;
  /** Records that everything up to here has been read. */
  finish(source: ThreadSourceRef, state: ReadingState): Promise<void>;
  /** Deletes what is stored of a source, so that the next index reads all of its threads. */
  forget(source: ThreadSourceRef): Promise<void>;
  /** Forgets the sources that the site no longer has. */
  keepOnly(site: SiteRef, prefixes: readonly string[]): Promise<void>;
}

const own = 'site_id = (select id from sites where id = $1 and organization_id = $2)';
const ofSource = `${own} and source = $3`;

/** Creates the store of the threads that sites index. */
export function createSourceThreadStore(pool: Pool): SourceThreadStore {
  const keyOf = ({ id, organizationId, prefix }: ThreadSourceRef) => [id, organizationId, prefix];
  return {
    async open(source, settings) {
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

    async list(source) {
      const { rows } = await pool.query<SourceThread>(
        `select id, changed_at as version, name from source_threads where ${ofSource} order by id`,
        keyOf(source),
      );
      return rows;
    },

    async contents(source, ids) {
      const { rows } = await pool.query<{ id: string; content: string }>(
        `select id, content from source_threads where ${ofSource} and id = any($4) and content is not null`,
        [...keyOf(source), ids],
      );
      return new Map(rows.map(({ id, content }) => [id, content]));
    },

    async put(source, { id, version, content, name }) {
      await pool.query(
        `insert into source_threads (site_id, source, id, changed_at, content, name)
         select site_id, source, $4, $5, $6, $7 from thread_sources where ${ofSource}
         on conflict (site_id, source, id) do update set
           changed_at = excluded.changed_at, content = excluded.content, name = excluded.name`,
        [...keyOf(source), id, version, content === null ? null : toStoredText(content), name],
      );
    },

    async remove(source, ids) {
      await pool.query(`delete from source_threads where ${ofSource} and id = any($4)`, [...keyOf(source), ids]);
    },

    async finish(source, { readUntil, etag, listedAt }) {
      await pool.query(`update thread_sources set read_until = $4, etag = $5, listed_at = $6 where ${ofSource}`, [
        ...keyOf(source),
        readUntil,
        etag,
        listedAt,
      ]);
    },

    async forget(source) {
      await pool.query(`delete from thread_sources where ${ofSource}`, keyOf(source));
    },

    async keepOnly({ id, organizationId }, prefixes) {
      await pool.query(`delete from thread_sources where ${own} and source <> all($3)`, [id, organizationId, prefixes]);
    },
  };
}
