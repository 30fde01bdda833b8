import { z } from 'zod';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import type { RepositoryAccess } from '../git/remote.ts';

export interface InstructionDeps {
  effects: EffectStore;
  workspaces: Pick<Workspaces, 'readFile' | 'findFiles'>;
  maskSecrets(text: string): string;
}

/** The repository's instructions for agents. */
export interface Instructions {
  /** AGENTS.md of the root; null when there is none. */
  text: string | null;
  /** Paths of the AGENTS.md files in folders. */
  folders: string[];
}

const name = 'AGENTS.md';
/** Largest part of the file in the root, and of one in a folder, in characters. */
const maxBytes = { root: 16 * 1024, folder: 8 * 1024 };
const mostFolders = 500;
const plainPath = /^[^\p{C}\p{Zl}\p{Zp}]{1,300}$/u;
const storedSchema = z.object({ text: z.string().nullable(), folders: z.array(z.string()).default([]) });

/**
 * Stores the base commit's instructions with the job's first turn, so that every model call uses them and later changes
 * to the files by the agent have no effect.
 */
export async function storeInstructions(
  deps: InstructionDeps,
  { jobId, commit, access }: { jobId: string; commit: string; access: RepositoryAccess },
): Promise<void> {
  const { effects, workspaces } = deps;
  const ref = { jobId, turn: 1, effect: 'instructions' };
  const { fence, result } = await effects.claim(ref);
  if (storedSchema.safeParse(result).success) return;
  const found = await workspaces.findFiles({ ...access, commit, name });
  const folders = found.filter((path) => path !== name && plainPath.test(path)).slice(0, mostFolders);
  const text = found.includes(name) ? await readGuidance(deps, { access, commit, path: name }) : null;
  await effects.storeResult({ ...ref, fence, result: { text, folders } satisfies Instructions });
}

/** Returns the instructions that `storeInstructions` stored. */
export function instructionsOf(result: unknown): Instructions {
  return storedSchema.safeParse(result).data ?? { text: null, folders: [] };
}

/** Returns one AGENTS.md of a commit, redacted and truncated; null when the commit has no such file. */
export async function readGuidance(
  { workspaces, maskSecrets }: { workspaces: Pick<Workspaces, 'readFile'>; maskSecrets(text: string): string },
  { access, commit, path }: { access: RepositoryAccess; commit: string; path: string },
): Promise<string | null> {
  const most = path === name ? maxBytes.root : maxBytes.folder;
  const file = await workspaces.readFile({ ...access, commit, path, maxBytes: most + 1 });
  if (file === null) return null;
  if (file.length <= most) return maskSecrets(file.toString());
  const whole = file
    .subarray(0, most)
    .toString()
    .replace(/\uFFFD+$/u, '');
  return `${maskSecrets(whole)}\n(The file is longer; the first ${most / 1024} KB of it count.)`;
}
