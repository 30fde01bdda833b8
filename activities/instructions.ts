import { z } from 'zod';
import type { EffectStore } from '../db/steps.ts';
import { maxInstructionBytes } from './agent-prompt.ts';
import type { RepositoryAccess, Workspaces } from './clients/workspaces.ts';

export interface InstructionDeps {
  effects: EffectStore;
  workspaces: Pick<Workspaces, 'readFile'>;
}

const storedSchema = z.object({ text: z.string().nullable() });

/**
 * Keeps AGENTS.md of the base commit with the job's first turn, so that every model call has it at hand and what the
 * agent does to the file later has no effect.
 */
export async function storeInstructions(
  { effects, workspaces }: InstructionDeps,
  { jobId, commit, access }: { jobId: string; commit: string; access: RepositoryAccess },
): Promise<void> {
  const ref = { jobId, turn: 1, effect: 'instructions' };
  const { fence, result } = await effects.claim(ref);
  if (storedSchema.safeParse(result).success) return;
  const file = await workspaces.readFile({ ...access, commit, path: 'AGENTS.md', maxBytes: maxInstructionBytes });
  const text = file === null ? null : new TextDecoder().decode(file.subarray(0, maxInstructionBytes));
  await effects.storeResult({ ...ref, fence, result: { text } });
}

/** What `storeInstructions` kept. */
export async function readInstructions(effects: Pick<EffectStore, 'claim'>, jobId: string): Promise<string | null> {
  const { result } = await effects.claim({ jobId, turn: 1, effect: 'instructions' });
  return storedSchema.safeParse(result).data?.text ?? null;
}
