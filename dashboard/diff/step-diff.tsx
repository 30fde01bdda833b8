import { useQuery, type QueryKey } from '@tanstack/react-query';
import { Loaded } from '../components/loaded.tsx';
import { answerOf, api } from '../http/client.ts';
import type { JobRef } from '../jobs/job-queries.ts';
import { DiffView } from './diff-view.tsx';

interface StepDiffProps {
  job: JobRef;
  step: { turn: number; step: number };
}

/** Shows the changes of one step: from the files before it to those after it. */
export function StepDiff({ job: { projectId, id }, step: { turn, step } }: StepDiffProps) {
  const params = { path: { projectId, id, turn, step } };
  const url = '/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}/diff';
  return (
    <Patch queryKey={['step-diff', id, turn, step]} read={() => answerOf(api.GET(url, { params, parseAs: 'text' }))} />
  );
}

/** Shows the changes as of a step, such as the last one of a turn, relative to the base commit. */
export function TurnDiff({ job: { projectId, id }, step: { turn, step } }: StepDiffProps) {
  const params = { path: { projectId, id }, query: { turn, step } };
  return (
    <Patch
      queryKey={['turn-diff', id, turn, step]}
      read={() => answerOf(api.GET('/v2/agent/{projectId}/job/{id}/diff', { params, parseAs: 'text' }))}
    />
  );
}

function Patch({ queryKey, read }: { queryKey: QueryKey; read(): Promise<string> }) {
  const diff = useQuery({ queryKey, staleTime: Number.POSITIVE_INFINITY, queryFn: read });
  return (
    <Loaded query={diff} problem="The diff could not be loaded">
      {(patch) => <DiffView patch={patch} />}
    </Loaded>
  );
}
