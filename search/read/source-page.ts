/** Most files that are listed as unreadable. */
export const maxSkipped = 20;

/** Properties that a page states; `filter` compares with them. */
export interface PageMetadata {
  title: string;
  description?: string;
  version?: string;
  language?: string;
  /** Languages, besides its own, in which the site shows it. */
  shownIn?: string[];
  tags?: string[];
  groups?: string[];
  /** Words that a reader may search for and that the text need not contain. */
  keywords?: string[];
  /** URL of a page that is published elsewhere: of a crawled website. */
  url?: string;
  /** Other front matter is not stored. */
}

export interface SourcePage {
  /** Path below the site, without extension and leading slash: `guides/install`; the index page is `index`. */
  path: string;
  /** Markdown (OpenAPI operations are rendered to it), without front matter. */
  content: string;
  metadata: PageMetadata;
  /** Groups of its front matter: only their members may read it; an empty list has none. Null for a public page. */
  restrictedTo: readonly string[] | null;
  isHidden: boolean;
  /** Position in the navigation; null where there is none. */
  order: number | null;
  boost: number;
  /** Omitted if other files are part of it, or if the content has no name. */
  source?: PageSource;
}

/** The file of a page that depends only on this file and the navigation. */
export interface PageSource {
  /** Its path below the site's folder. */
  file: string;
  /** Name of its content. */
  name: string;
}
