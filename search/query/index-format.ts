/**
 * Format of the artifact and of its pages. With another one, an index is rebuilt from all files, and what was crawled or
 * read as a thread is read again.
 */
export const indexFormat = 20;

/**
 * Oldest format that can still be searched until the index is rebuilt: since then, only the reading of pages has
 * changed.
 */
const oldestSearchedFormat = 8;

/** Reports whether an artifact of a format can be searched. */
export function isSearchable(format: number): boolean {
  return format >= oldestSearchedFormat && format <= indexFormat;
}
