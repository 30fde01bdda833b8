import type { FindIncluded } from './formats/includes.ts';
import type { SourceFile } from './source-file.ts';
import type { SourceFiles } from './layouts/layout.ts';

/** Included files may include others. */
const maxRounds = 8;

/**
 * Returns the files that pages include. Those that a folder does not list, such as source code, are read when the pages
 * that name them have been read once; these are then read again.
 */
export function createIncludedFiles(listed: SourceFiles, readMore: (paths: string[]) => Promise<SourceFile[]>) {
  const found = new Map<string, SourceFile>();
  const asked = new Set<string>();

  return {
    async complete<Entry, Page>(
      entries: readonly Entry[],
      read: (entry: Entry, find: FindIncluded) => Promise<Page>,
    ): Promise<Page[]> {
      const pages: Page[] = [];
      const missing = new Map<number, string[]>();
      const readAt = async (at: number, entry: Entry) => {
        const missed = new Set<string>();
        pages[at] = await read(entry, (path) => {
          const file = listed.get(path) ?? found.get(path);
          if (file === undefined) missed.add(path);
          return file;
        });
        missing.set(at, [...missed]);
      };
      for (const [at, entry] of entries.entries()) await readAt(at, entry);
      for (let round = 0; round < maxRounds; round++) {
        const wanted = [...new Set([...missing.values()].flat())].filter((path) => !asked.has(path));
        if (wanted.length === 0) break;
        for (const path of wanted) asked.add(path);
        for (const file of await readMore(wanted)) found.set(file.path, file);
        for (const [at, entry] of entries.entries())
          if (missing.get(at)?.some((path) => found.has(path)) === true) await readAt(at, entry);
      }
      return pages;
    },
  };
}
