/** What a page says of itself; the values that `filter` compares with. */
export interface PageMetadata {
  title: string;
  description?: string;
  version?: string;
  language?: string;
  tags?: string[];
  groups?: string[];
  /** Anything else the front matter holds is not kept. */
}

export interface SourcePage {
  /** Path below the site, without extension, without leading slash: `guides/install`; the index page is `index`. */
  path: string;
  /** Markdown (OpenAPI operations are rendered to it), front matter removed. */
  content: string;
  metadata: PageMetadata;
  isHidden: boolean;
  /** Position in the navigation; null where there is none. */
  order: number | null;
  boost: number;
}

export interface SearchFilter {
  version?: string;
  language?: string;
  tag?: string;
  groups?: string[];
}

export interface SearchRequest {
  query: string;
  limit: number;
  filter?: SearchFilter | null;
  /** Prefers the page a reader looks at and its neighbours. */
  currentPath?: string;
  /** Words of the conversation or of selected text that help to rank, weaker than the query. */
  hints?: string[];
}

export interface SearchHit {
  path: string;
  /** Anchor of the heading, null at the top of the page. */
  anchor: string | null;
  title: string;
  /** Headings from the page's top down to the passage. */
  headings: string[];
  content: string;
  metadata: PageMetadata;
  /** 0 to 1, how well the evidence covers the query: comparable between queries. */
  score: number;
}

/** One version of a site's index, read-only, opened from a file. */
export interface SiteIndex {
  search(request: SearchRequest): SearchHit[];
  /** The page's Markdown, null when unknown or hidden. Accepts a leading slash, an extension, an anchor. */
  page(path: string): { path: string; content: string; metadata: PageMetadata } | null;
  /** Whether a link of an answer leads to a page (and anchor) of the site. */
  hasLink(path: string, anchor: string | null): boolean;
  /** Paths and titles, in navigation order; for a model's table of contents. */
  pages(): { path: string; title: string }[];
  [Symbol.dispose](): void;
}

/** Format of the artifact: an index of another format is rebuilt. */
export const indexFormat = 1;

/** Below this score of its best hit a question counts as not answered by the documentation. */
export const weakEvidence = 0.4;

/** Opens an artifact. Throws when the file is not an index of `indexFormat`. */
export declare function openSiteIndex(file: string): SiteIndex;
