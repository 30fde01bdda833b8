import type { SiteRef } from '../caller.ts';

/** A source of a site beside its main one. */
export type AddedSource = {
  /** Path below which its pages appear; differs from those of the site's other sources. */
  prefix: string;
  /** Factor of the boost of its pages. */
  weight: number;
} & (
  | { kind: 'repository'; repository: string; ref: string | null; path: string }
  | { kind: 'directory'; directory: string; path: string }
  | { kind: 'website'; url: string }
  | {
      /** Discussions are those of GitHub. */
      kind: 'issues' | 'discussions';
      repository: string;
      threads: WantedThreads;
      /** A thread has at least one of them; empty for all. */
      labels: string[];
      /** Groups whose members may read the pages; empty for everyone, if the threads are public. */
      groups: string[];
    }
  | {
      kind: 'discourse';
      /** The forum, or one of its categories. */
      url: string;
      threads: WantedThreads;
      /** A topic has at least one of them; empty for all. */
      tags: string[];
    }
);

/** Only closed issues with a reply from someone other than the author, and threads with an accepted answer; or all. */
type WantedThreads = 'answered' | 'all';

/** Identifies a source of a site. */
export interface SourceRef extends SiteRef {
  prefix: string;
}

/** Whether a row belongs to a site ($1) of an organization ($2). */
export const ofSite = 'site_id = (select id from sites where id = $1 and organization_id = $2)';

/** A source whose pages are questions with their answers. */
export type ThreadSource = Extract<AddedSource, { threads: WantedThreads }>;

export function isThreadSource(source: AddedSource): source is ThreadSource {
  return 'threads' in source;
}

/** Report on the files that an index was built from. */
export interface IndexReport {
  /** The documentation tool whose layout the files have; null for none. */
  layout: string | null;
  /** Number of pages by the format of their source. */
  formats: Partial<Record<string, number>>;
  /** The first files without a page that look like one. */
  skipped: string[];
  /** The added sources of the site, in order; omitted if it has none. */
  sources?: SourceReport[];
  /** Vectors of the passages; null without an embedding model. */
  vectors?: { model: string; passages: number; of: number; problem: string | null } | null;
}

/** Report on an added source. */
export interface SourceReport {
  prefix: string;
  /** Number of its pages in the index. */
  pages: number;
  /** Why its pages come from an earlier index, as a sentence; null if they are up to date. */
  problem: string | null;
  /** The first pages of a website, threads, or files that could not be read, as sentences. */
  skipped: string[];
}
