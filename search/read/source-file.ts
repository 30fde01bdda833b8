/** A file below the site's folder, by its path with forward slashes. */
export interface SourceFile {
  path: string;
  /** Name of the content: files with the same path and name are equal. */
  name?: string;
  /** The file is too large to be read. */
  isTooLarge?: true;
  /** Throws UnreadError if the file was assumed to be unchanged. */
  read(): string;
}
