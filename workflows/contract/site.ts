/** Input of an indexing run. */
export interface IndexSiteInput {
  siteId: string;
}

/** `request` identifies the request that the run answers; null if there is none. */
export interface BuildSiteInput extends IndexSiteInput {
  request: string | null;
}

export interface IndexFailureInput extends BuildSiteInput {
  category: string;
  message: string;
}

/** Result of an indexing run; the index itself is in PostgreSQL. */
export interface IndexSiteOutcome {
  /** Version of the index now being served. */
  version: number;
  pages: number;
  /** Pages whose content differs from the previous version. */
  changedPages: number;
}
