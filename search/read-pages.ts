import type { SourcePage } from './site-index.ts';

/** A file below the site's folder, by its path with forward slashes. */
export interface SourceFile {
  path: string;
  read(): string;
}

/** Turns the files of a folder into pages: Markdown and MDX with front matter, OpenAPI files, navigation (`docs.json`, `mint.json`). */
export declare function readPages(files: Iterable<SourceFile>): SourcePage[];
