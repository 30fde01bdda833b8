import { existsSync } from 'node:fs';
import { moveFolders } from '../db/organizations/moved-folders.ts';
import { createPool } from '../db/pool.ts';
import type { LocalJson } from './local-json.ts';

export type Folders = NonNullable<LocalJson['folders']>;

/**
 * Updates the full paths in the database, which clients see, after a home or a checkout was moved. A folder that still
 * exists at its old path was not moved: the stack now uses a different one.
 */
export async function updateMovedFolders({
  databaseUrl,
  known,
  folders,
}: {
  databaseUrl: string;
  known: LocalJson | null;
  folders: Folders;
}): Promise<void> {
  const before = known?.folders ?? folders;
  const pairs = [
    { from: before.repositories, to: folders.repositories },
    { from: before.directories, to: folders.directories },
  ];
  const moved = pairs.filter(({ from, to }) => from !== to && !existsSync(from));
  if (moved.length === 0) return;
  const pool = createPool({ url: databaseUrl, maxConnections: 1, applicationName: 'docket-start' });
  try {
    await moveFolders(pool, moved);
  } finally {
    await pool.end();
  }
}
