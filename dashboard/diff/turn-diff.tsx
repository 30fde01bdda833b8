import { useQuery } from '@tanstack/react-query';
import { answerOf, api, messageOf } from '../http/client.ts';
import { ErrorNote, Loading } from '../components/notes.tsx';
import type { JobRef } from '../jobs/job-queries.ts';
import { DiffView } from './diff-view.tsx';

interface TurnDiffProps {
  job: JobRef;
  /** Last step of a turn that has ended. */
  step: { turn: number; step: number };
}

/** Shows the changes as of the end of a turn, relative to the base commit. */
export function TurnDiff({ job: { projectId, id }, step: { turn, step } }: TurnDiffProps) {
  const diff = useQuery({
    queryKey: ['turn-diff', id, turn, step],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      answerOf(
        api.GET('/v2/agent/{projectId}/job/{id}/diff', {
          params: { path: { projectId, id }, query: { turn, step } },
          parseAs: 'text',
        }),
      ),
  });
  if (diff.isPending) return <Loading />;
  if (diff.isError) return <ErrorNote title="The diff could not be loaded" message={messageOf(diff.error)} />;
  return <DiffView patch={diff.data} />;
}
