import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { EffectStore } from '../db/steps.ts';
import { maxInstructionBytes } from './agent-prompt.ts';

const storedSchema = z.object({ text: z.string().nullable() });

/** AGENTS.md of a tree, capped; null when there is none. A symlink is not followed: it could lead out of the tree. */
export async function instructionsIn(root: string): Promise<string | null> {
  let file;
  try {
    file = await open(join(root, 'AGENTS.md'), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxInstructionBytes), 0, maxInstructionBytes, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Keeps them with the first turn, whose tree is the base commit: what the agent does to the file later has no effect. */
export async function storeInstructions(effects: EffectStore, jobId: string, text: string | null): Promise<void> {
  const ref = { jobId, turn: 1, effect: 'instructions' };
  const { fence, result } = await effects.claim(ref);
  if (!storedSchema.safeParse(result).success) await effects.storeResult({ ...ref, fence, result: { text } });
}

/** What `storeInstructions` kept. */
export async function readInstructions(effects: Pick<EffectStore, 'claim'>, jobId: string): Promise<string | null> {
  const { result } = await effects.claim({ jobId, turn: 1, effect: 'instructions' });
  return storedSchema.safeParse(result).data?.text ?? null;
}
