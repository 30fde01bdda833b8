import { useQuery } from '@tanstack/react-query';
import { Loaded } from '../components/loaded.tsx';
import { answerOf, api } from '../http/client.ts';
import type { JobRef } from '../jobs/job-queries.ts';
import { ReviewedDiff } from './reviewed-diff.tsx';

/** Shows the complete diff of a job, with comments for the agent. */
export function JobDiff({ job, onSent }: { job: JobRef; onSent(): void }) {
  const diff = useQuery({
    queryKey: ['job', job.id, 'diff'],
    queryFn: () => answerOf(api.GET('/v2/agent/{projectId}/job/{id}/diff', { params: { path: job }, parseAs: 'text' })),
  });
  return (
    <Loaded query={diff} problem="The diff could not be loaded">
      {(patch) => <ReviewedDiff job={job} patch={patch} onSent={onSent} />}
    </Loaded>
  );
}
