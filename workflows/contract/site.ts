/** What an indexing run is started with. */
export interface IndexSiteInput {
  siteId: string;
}

/** `request` names the request that the run answers; null: nobody asked. */
export interface BuildSiteInput extends IndexSiteInput {
  request: string | null;
}

export interface IndexFailureInput extends BuildSiteInput {
  category: string;
  message: string;
}

/** What an indexing run tells; the index itself is in PostgreSQL. */
export interface IndexSiteOutcome {
  /** Version of the index that serves now. */
  version: number;
  pages: number;
  /** Pages whose content differed from the version before. */
  changedPages: number;
}
