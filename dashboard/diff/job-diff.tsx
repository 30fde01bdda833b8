import { useQuery } from '@tanstack/react-query';
import { answerOf, api, messageOf } from '../http/client.ts';
import { ErrorNote, Loading } from '../components/notes.tsx';
import type { JobRef } from '../jobs/job-queries.ts';
import { ReviewedDiff } from './reviewed-diff.tsx';

/** Shows the complete diff of a job, with comments for the agent. */
export function JobDiff({ job, onSent }: { job: JobRef; onSent(): void }) {
  const diff = useQuery({
    queryKey: ['job', job.id, 'diff'],
    queryFn: () => answerOf(api.GET('/v2/agent/{projectId}/job/{id}/diff', { params: { path: job }, parseAs: 'text' })),
  });
  if (diff.isPending) return <Loading />;
  if (diff.isError)
    return (
      <ErrorNote
        title="The diff could not be loaded"
        message={messageOf(diff.error)}
        onRetry={() => void diff.refetch()}
      />
    );
  return <ReviewedDiff job={job} patch={diff.data} onSent={onSent} />;
}
