/** What a page says of itself; the values that `filter` compares with. */
export interface PageMetadata {
  title: string;
  description?: string;
  version?: string;
  language?: string;
  tags?: string[];
  groups?: string[];
  /** Words a reader may look for that the text need not hold. */
  keywords?: string[];
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
  /** Left out where other files have a part in it, or the content has no name. */
  source?: PageSource;
}

/** The file a page was read from, where nothing but this file and the navigation makes the page. */
export interface PageSource {
  /** Its path below the site's folder. */
  file: string;
  /** Names its content. */
  name: string;
}
