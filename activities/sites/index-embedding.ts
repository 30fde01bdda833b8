import { runInThread } from '../../lib/threads/run-in-thread.ts';
import type { EmbeddingChoice } from '../../lib/inputs/embedding-choice.ts';
import type { ModelSettings } from '../../models/registry.ts';

export interface EmbeddingSettings extends EmbeddingChoice {
  settings: ModelSettings;
}

/** Input of the thread. */
export interface EmbeddingTask extends EmbeddingSettings {
  file: string;
  /** Artifact of the previous version, whose vectors of equal texts are reused. */
  previousFile?: string;
}

export interface EmbeddingResult {
  model: string;
  /** Number of passages with a vector, of all passages. */
  passages: number;
  of: number;
  /** Why passages are left without a vector; null when all have one. */
  problem: string | null;
  /** Hash of what was embedded. */
  hash: string;
}

/** Adds the vectors of its passages to an artifact, in a thread. A failing model is reported, not thrown. */
export function embedIndexInThread({
  signal,
  ...data
}: EmbeddingTask & { signal: AbortSignal }): Promise<EmbeddingResult> {
  const script = new URL('./index-embedding-thread.ts', import.meta.url);
  return runInThread<EmbeddingTask, EmbeddingResult>({ script, data, signal });
}
