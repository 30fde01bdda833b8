import { z } from 'zod';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { RepositoryAccess, Workspaces } from '../workspaces/workspaces.ts';

export interface InstructionDeps {
  effects: EffectStore;
  workspaces: Pick<Workspaces, 'readFile' | 'findFiles'>;
  maskSecrets(text: string): string;
}

/** What the repository says to agents. */
export interface Instructions {
  /** AGENTS.md of its root; null: there is none. */
  text: string | null;
  /** Paths of those in folders. */
  folders: string[];
}

const name = 'AGENTS.md';
/** At most this much of the file in the root is taken, and this much of one in a folder. */
const maxBytes = { root: 16 * 1024, folder: 8 * 1024 };
const mostFolders = 500;
const plainPath = /^[^\p{C}\p{Zl}\p{Zp}]{1,300}$/u;
const storedSchema = z.object({ text: z.string().nullable(), folders: z.array(z.string()).default([]) });

/**
 * Keeps what the base commit says to agents with the job's first turn, so that every model call has it at hand and what the
 * agent does to the files later has no effect.
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

/** What `storeInstructions` kept. */
export async function readInstructions(effects: Pick<EffectStore, 'claim'>, jobId: string): Promise<Instructions> {
  const { result } = await effects.claim({ jobId, turn: 1, effect: 'instructions' });
  return instructionsOf(result);
}

/** What is in the result of the effect. */
export function instructionsOf(result: unknown): Instructions {
  return storedSchema.safeParse(result).data ?? { text: null, folders: [] };
}

/** One AGENTS.md of a commit, without secrets and without what is too much; null when the commit has no such file. */
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
