import type { PageMetadata } from '../read/source-page.ts';

export interface SearchFilter {
  version?: string;
  language?: string;
  tag?: string;
  groups?: string[];
}

export interface SearchRequest {
  query: string;
  limit: number;
  /** Searches for the query as a whole, even if it contains several questions. */
  isSingle?: boolean;
  filter?: SearchFilter | null;
  /** Prefers the reader's page and its neighbors. */
  currentPath?: string;
  /** The query's vector, from the same model as the index's vectors. With it, passages are also found by meaning. */
  vector?: readonly number[];
  /** Words of the conversation or of selected text that help to rank, with less weight than the query. */
  hints?: string[];
  /** Texts that the query refers to; their words count half. */
  referred?: string[];
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
  /** 0 to 1, how well the evidence covers the query; comparable between queries. */
  score: number;
}
