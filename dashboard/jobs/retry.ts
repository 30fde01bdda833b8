import { answerOf, api } from '../http/client.ts';
import type { Job, Session } from '../http/types.ts';
import { newId } from '../widget/new-id.ts';
import type { EffortChoice } from './effort.ts';

/** The parts of a job that a retry repeats. */
export type Repeated = Pick<Job, 'source' | 'model' | 'details'>;

/** Where a job is repeated, and the prompt of its newest turn. */
export interface Retry {
  projectId: string;
  prompt: string;
  /** Sent twice, it creates one job. */
  idempotencyKey?: string;
}

/** Returns the fields of the form of a new job that repeat a job with its newest prompt. */
export function fieldsToRetry({ source, model, details }: Repeated, { projectId, prompt }: Retry) {
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

/** Creates a job with the newest prompt of another one. */
export function retryJob(
  { source: { repository, ref }, details }: Omit<Repeated, 'model'>,
  { projectId, prompt, idempotencyKey = newId() }: Retry,
  projects: Session['projects'],
): Promise<Job> {
  const isDefault = projects.some((project) => project.id === projectId && project.repository === repository);
  return answerOf(
    api.POST('/v2/agent/{projectId}/job', {
      params: { path: { projectId }, header: { 'Idempotency-Key': idempotencyKey } },
      body: {
        prompt,
        models: details.models,
        reasoningEffort: details.reasoningEffort,
        maxOutputTokens: details.maxOutputTokens,
        source: { ...(isDefault ? {} : { repository }), ...(ref === null ? {} : { ref }) },
      },
    }),
  );
}
