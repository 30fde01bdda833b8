/** What an indexing run is started with. */
export interface IndexSiteInput {
  siteId: string;
}

/** What an indexing run tells; the index itself is in PostgreSQL. */
export interface IndexSiteOutcome {
  /** Version of the index that serves now. */
  version: number;
  pages: number;
  /** Pages whose content differed from the version before. */
  changedPages: number;
}
