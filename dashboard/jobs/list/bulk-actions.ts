import { answerOf, api, messageOf } from '../../http/client.ts';
import type { ListedJob, Project, Session } from '../../http/types.ts';
import { stateOf } from './with-changes.ts';

export interface BulkAction {
  /** Verb of the button. */
  label: string;
  /** Past participle for the outcome. */
  done: string;
  appliesTo(job: ListedJob): boolean;
  act(job: ListedJob, projects: Session['projects']): Promise<unknown>;
}

const pathOf = ({ projectId, id }: ListedJob) => ({ path: { projectId, id } });

export const cancelAction: BulkAction = {
  label: 'Cancel',
  done: 'cancelled',
  appliesTo: ({ status }) => status === 'active',
  act: (job) => answerOf(api.POST('/v2/agent/{projectId}/job/{id}/cancel', { params: pathOf(job) })),
};

export const archiveAction: BulkAction = {
  label: 'Archive',
  done: 'archived',
  appliesTo: ({ status }) => status === 'completed' || status === 'failed',
  act: (job) => answerOf(api.POST('/v2/agent/{projectId}/job/{id}/archive', { params: pathOf(job) })),
};

export const retryAction: BulkAction = {
  label: 'Retry',
  done: 'retried',
  appliesTo: (job) => ['failed', 'cancelled'].includes(stateOf(job)),
  act: retry,
};

/** Creates a job with the newest prompt of another one. */
async function retry(job: ListedJob, projects: Pick<Project, 'id' | 'repository'>[]): Promise<unknown> {
  const { turns } = await answerOf(
    api.GET('/v2/agent/{projectId}/job/{id}/turns', {
      params: { ...pathOf(job), query: { after: job.turn - 1, limit: 1 } },
    }),
  );
  const { repository, ref } = job.source;
  const isDefault = projects.some((project) => project.id === job.projectId && project.repository === repository);
  return answerOf(
    api.POST('/v2/agent/{projectId}/job', {
      params: { path: { projectId: job.projectId }, header: { 'Idempotency-Key': crypto.randomUUID() } },
      body: {
        prompt: turns[0]?.prompt ?? job.prompt,
        models: job.details.models,
        reasoningEffort: job.details.reasoningEffort,
        maxOutputTokens: job.details.maxOutputTokens,
        source: { ...(isDefault ? {} : { repository }), ...(ref === null ? {} : { ref }) },
      },
    }),
  );
}

export interface BulkOutcome {
  done: number;
  failures: { job: ListedJob; message: string }[];
}

const mostAtOnce = 4;

/** Acts on each job, a few at once, and collects the failures in the order of the jobs. */
export async function actOnAll(jobs: ListedJob[], act: (job: ListedJob) => Promise<unknown>): Promise<BulkOutcome> {
  const messages: (string | null)[] = [];
  let next = 0;
  const work = async () => {
    while (next < jobs.length) {
      const at = next++;
      const job = jobs[at];
      if (job === undefined) return;
      messages[at] = await act(job).then(() => null, messageOf);
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  const failures = jobs.flatMap((job, at) => {
    const message = messages[at] ?? null;
    return message === null ? [] : [{ job, message }];
  });
  return { done: jobs.length - failures.length, failures };
}
