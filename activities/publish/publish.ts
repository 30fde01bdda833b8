import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import type { JobOutcome, StoppedTurn, WorkedTurn } from '../../workflows/contract/job.ts';
import type { Attempt } from '../attempt.ts';
import type { JobAccess } from '../job/job-access.ts';
import { waitOf } from '../job/waiting.ts';
import type { Publisher } from './publisher.ts';
import { stoppedMessage } from './stopped-message.ts';

export interface PublishActivityDeps {
  jobs: Pick<WorkerJobStore, 'usage'>;
  steps: Pick<StepStore, 'lastAnswered'>;
  effects: Pick<EffectStore, 'countFailure'>;
  access: JobAccess;
  publishWork: Publisher;
  attempt: Attempt;
}

export function createPublishActivities({ jobs, steps, effects, access, publishWork, attempt }: PublishActivityDeps) {
  return {
    /**
     * Publishes the agent's work. Safe to run twice, because the publisher is. A turn that ended with a plan or a
     * question publishes nothing, because a person decides first.
     */
    async publish(ref: WorkedTurn): Promise<JobOutcome> {
      return attempt(
        { turn: ref, countFailure: () => effects.countFailure({ ...ref, effect: 'publish' }) },
        async (signal) => {
          const job = await access.activeJob(ref);
          if (waitOf(job, await steps.lastAnswered(ref)) !== null) return { kind: 'waiting' };
          const { prLink } = await publishWork({ ref, job, stopped: null, signal });
          return prLink === null ? { kind: 'no-changes' } : { kind: 'published', prLink };
        },
      );
    },

    /**
     * Publishes the work of a stopped agent as a draft and returns the job's message. Safe to run twice, because the
     * publisher is.
     */
    async keepWork({ jobId, turn, message }: StoppedTurn): Promise<{ message: string }> {
      const ref = { jobId, turn };
      return attempt(
        { turn: ref, countFailure: () => effects.countFailure({ ...ref, effect: 'keep-work' }) },
        async (signal) => {
          const job = await access.activeJob(ref);
          const published = await publishWork({ ref, job, stopped: message, signal });
          return { message: stoppedMessage({ message, published, usage: await jobs.usage(jobId, turn) }) };
        },
      );
    },
  };
}
