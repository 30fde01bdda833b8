import { existsSync } from 'node:fs';
import { moveFolders } from '../db/organizations/moved-folders.ts';
import { createPool } from '../db/pool.ts';
import type { LocalJson } from './local-json.ts';

export type Folders = NonNullable<LocalJson['folders']>;

/**
 * Lets the database follow a home or a checkout that was moved since its last start: what is stored are the full paths that
 * clients see. A folder that is still at its old place was not moved; another one is used now.
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
