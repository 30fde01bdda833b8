import type { Job } from '../http/types.ts';
import type { EffortChoice } from './effort.ts';

/** Returns the fields of the form of a new job that repeat a job with its newest prompt. */
export function fieldsToRetry(
  { source, model, details }: Pick<Job, 'source' | 'model' | 'details'>,
  { projectId, prompt }: { projectId: string; prompt: string },
) {
  const effort: EffortChoice = details.reasoningEffort ?? '';
  return {
    projectId,
    prompt,
    ref: source.ref ?? '',
    model,
    fallbacks: details.models.slice(1).join('\n'),
    effort,
    outputLimit: details.maxOutputTokens?.toString() ?? '',
  };
}
