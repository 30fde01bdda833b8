import { useQuery } from '@tanstack/react-query';
import { answerOf, api, messageOf } from '../http/client.ts';
import { ErrorNote, Loading } from '../components/notes.tsx';
import type { JobRef } from '../jobs/job-queries.ts';
import { DiffView } from './diff-view.tsx';

interface StepDiffProps {
  job: JobRef;
  step: { turn: number; step: number };
}

/** Shows the changes of one step: from the files before it to those after it. */
export function StepDiff({ job: { projectId, id }, step: { turn, step } }: StepDiffProps) {
  const diff = useQuery({
    queryKey: ['step-diff', id, turn, step],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      answerOf(
        api.GET('/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}/diff', {
          params: { path: { projectId, id, turn, step } },
          parseAs: 'text',
        }),
      ),
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
  return <DiffView patch={diff.data} />;
}
