import { showToast } from '../../components/toasts.ts';
import { plural } from '../../format.ts';
import { answerOf, api, messageOf } from '../../http/client.ts';
import type { ListedJob, Session } from '../../http/types.ts';
import { retryJob } from '../retry.ts';
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

export const unarchiveAction: BulkAction = {
  label: 'Unarchive',
  done: 'no longer archived',
  appliesTo: ({ status }) => status === 'archived',
  act: (job) => answerOf(api.POST('/v2/agent/{projectId}/job/{id}/unarchive', { params: pathOf(job) })),
};

export const retryAction: BulkAction = {
  label: 'Retry',
  done: 'retried',
  appliesTo: (job) => ['failed', 'cancelled'].includes(stateOf(job)),
  act: async (job, projects) =>
    retryJob(job, { projectId: job.projectId, prompt: await newestPromptOf(job) }, projects),
};

/** Reads the prompt of a job's newest turn. */
export async function newestPromptOf(job: ListedJob): Promise<string> {
  const { turns } = await answerOf(
    api.GET('/v2/agent/{projectId}/job/{id}/turns', {
      params: { ...pathOf(job), query: { after: job.turn - 1, limit: 1 } },
    }),
  );
  return turns[0]?.prompt ?? job.prompt;
}

export interface SelectedJobs {
  action: BulkAction;
  jobs: ListedJob[];
  projects: Session['projects'];
}

export type SelectedOutcome = BulkOutcome & { doneAs: string };

/** Acts on those of the selected jobs that the action applies to. Null when a toast, with an undo, tells all of the outcome. */
export async function actOnSelected({ action, jobs, projects }: SelectedJobs): Promise<SelectedOutcome | null> {
  const fitting = jobs.filter(action.appliesTo);
  const outcome = await actOnAll(fitting, (job) => action.act(job, projects));
  if (action === archiveAction && outcome.done > 0) {
    const archived = fitting.filter((job) => outcome.failures.every((failure) => failure.job !== job));
    showToast({ text: `${plural(archived.length, 'job')} archived.`, undo: () => unarchive(archived, projects) });
    if (outcome.failures.length === 0) return null;
  }
  return { doneAs: action.done, ...outcome };
}

async function unarchive(jobs: ListedJob[], projects: Session['projects']): Promise<string> {
  const { done, failures } = await actOnAll(jobs, (job) => unarchiveAction.act(job, projects));
  const [first] = failures;
  return `${plural(done, 'job')} no longer archived.${first === undefined ? '' : ` ${first.message}`}`;
}

export interface BulkOutcome {
  done: number;
  failures: { job: ListedJob; message: string }[];
}

const maxConcurrent = 4;

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
  await Promise.all(Array.from({ length: maxConcurrent }, work));
  const failures = jobs.flatMap((job, at) => {
    const message = messages[at] ?? null;
    return message === null ? [] : [{ job, message }];
  });
  return { done: jobs.length - failures.length, failures };
}
