/**
 * Format of the artifact and of its pages. With another one, an index is rebuilt from all files, and what was crawled or
 * read as a thread is read again.
 */
export const indexFormat = 8;
