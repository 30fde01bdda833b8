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
      kind: 'issues';
      repository: string;
      /** Only closed issues with a reply from someone other than the author, or all issues. */
      threads: 'answered' | 'all';
      /** An issue has at least one of them; empty for all issues. */
      labels: string[];
      /** Whose members may read the pages; empty for everybody, if everybody may see the issues. */
      groups: string[];
    }
);

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
  /** Why pages of it are those of an earlier index, as a sentence; null if they are up to date. */
  problem: string | null;
  /** The first pages of a website, or issues, that could not be read, as sentences. */
  skipped: string[];
}
