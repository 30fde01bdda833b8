import { Confirm } from '../components/confirm.tsx';
import { answerOf, api } from '../http/client.ts';
import { queryClient } from '../queries.ts';
import type { JobRef } from './job-queries.ts';

/** Cancels a job after a confirmation. */
export function CancelJob({ job }: { job: JobRef }) {
  return (
    <Confirm
      role="member"
      label="Cancel"
      what="Cancel the job"
      title="Cancel this job?"
      text="The job stops and publishes nothing further. A follow-up message resumes it."
      act={() => answerOf(api.POST('/v2/agent/{projectId}/job/{id}/cancel', { params: { path: job } }))}
      onDone={() => queryClient.invalidateQueries({ queryKey: ['job', job.id] })}
    />
  );
}
