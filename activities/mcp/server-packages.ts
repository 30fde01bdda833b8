import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import type { LayerRef } from '../../db/for-worker/environment-layers.ts';
import type { ServerValue } from '../../db/organizations/project-tools.ts';
import { inspectArchive } from '../environment/layer-archive.ts';
import type { LayerFiles } from '../environment/layer-files.ts';
import { packLayer, unpackLayer, type PackRequest } from '../environment/run-setup.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** HOME of a server that runs as a command, in which package managers keep what they download. */
export interface ServerHome extends Omit<PackRequest, 'folder' | 'workspace'> {
  ref: LayerRef;
  tree: string;
  home: string;
}

/** Time after which a server downloads again, so that one without a version becomes the newest. */
const renewMs = 24 * 60 * 60_000;

/** Returns the place of a server's packages: no other project and no other command finds them, because they are programs. */
export function packagesOf({
  projectId,
  command,
  kind,
}: {
  projectId: string;
  command: readonly string[];
  /** Kind of the sandbox, and the image. */
  kind: string;
}): LayerRef {
  const parts = [command, kind, Math.floor(Date.now() / renewMs)];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
  return { projectId, key: `mcp-${hash}` };
}

/** Fills HOME with what the server downloaded before; false if nothing is kept. */
export async function restorePackages(
  layerFiles: LayerFiles,
  sandbox: Sandbox,
  { ref, tree, home, ...request }: ServerHome,
): Promise<boolean> {
  const kept = await layerFiles.find(ref);
  if (kept === null) return false;
  await unpackLayer(sandbox, { ...request, workspace: { path: tree, home }, folder: kept.folder });
  return true;
}

/**
 * Keeps HOME of a server that has ended, unless a file holds one of its values. It is a copy that later starts cannot
 * change: what an agent makes the server write must not become its program.
 */
export async function keepPackages(
  layerFiles: LayerFiles,
  sandbox: Sandbox,
  { ref, tree, home, values, ...request }: ServerHome & { values: readonly ServerValue[] },
): Promise<void> {
  if ((await readdir(home)).length === 0) return;
  const { signal } = request;
  const folder = await layerFiles.createFolder();
  try {
    const added = async () => ({ paths: [], excluded: [] });
    await packLayer(sandbox, { ...request, workspace: { path: tree, home, added }, folder });
    const secrets = Object.fromEntries(values.map(({ name, value }) => [name, value]));
    const { bytes, sha256, secret } = await inspectArchive(folder, { secrets, signal });
    if (secret === null) await layerFiles.add(ref, { folder, layer: { bytes, sha256, excluded: [] } });
    else await layerFiles.discard(folder);
  } catch (error) {
    await layerFiles.discard(folder);
    throw error;
  }
}
