/** A file below the site's folder, by its path with forward slashes. */
export interface SourceFile {
  path: string;
  /** Names the content: files of an equal path and name are equal. */
  name?: string;
  /** Throws UnreadError where the file was taken to be unchanged. */
  read(): string;
}
