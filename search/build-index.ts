import type { SourcePage } from './site-index.ts';

export interface BuiltIndex {
  pages: number;
  chunks: number;
  changedPages: number;
  /** Hash of all pages; equal to `previous`' when nothing changed. */
  sourceHash: string;
}

/** Builds an artifact at `file`, taking unchanged pages from `previousFile` where given (incremental). */
export declare function buildIndex(pages: Iterable<SourcePage>, options: { file: string; previousFile?: string }): BuiltIndex;
