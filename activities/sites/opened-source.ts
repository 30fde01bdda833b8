import { createHash } from 'node:crypto';
import type { FolderFile, IsKnownFile } from '../workspaces/source-folder.ts';

/** Content of a source at one point in time. */
export interface OpenedSource {
  /** Identifies the content: an equal revision means that nothing changed. */
  revision: string;
  /** Reads all files, whose contents the caller may transfer. Known files may come without content. */
  read(isKnown: IsKnownFile): Promise<FolderFile[]>;
  /** Reads files that pages include and that are not among those of the source. */
  readIncluded?(paths: readonly string[]): Promise<FolderFile[]>;
  /** Identifies the content with all that its pages may include; null if nothing does. Omitted if they include nothing. */
  wholeRevision?: string | null;
  /** Why a website or threads were not read completely. */
  problem?: string | null;
  skipped?: string[];
  isWithdrawn?: boolean;
}

export function revisionOf(files: Pick<FolderFile, 'path' | 'name'>[]): string {
  const hash = createHash('sha256');
  for (const { path, name } of files) hash.update(`${path}\0${name}\0`);
  return hash.digest('hex');
}
