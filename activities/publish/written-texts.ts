import { z } from 'zod';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import type { PullRequestText } from '../forges/forge.ts';

const textSchema = z.object({ title: z.string(), body: z.string() });

/**
 * Returns the texts of which one is what Docket wrote last into a job's pull request: the stored one, and that of an
 * attempt which may have died between its request and storing it. None if none is stored.
 */
export async function readWrittenTexts(
  { jobs, effects }: { jobs: Pick<WorkerJobStore, 'publishedText'>; effects: Pick<EffectStore, 'newest'> },
  effect: TurnRef & { effect: string },
): Promise<PullRequestText[]> {
  const stored = await jobs.publishedText(effect.jobId);
  if (stored === null) return [];
  const begun = textSchema.safeParse(await effects.newest(effect));
  return begun.success ? [stored, begun.data] : [stored];
}
