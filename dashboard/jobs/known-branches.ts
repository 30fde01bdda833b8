import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../http/client.ts';
import type { ListedJob } from '../http/types.ts';

/** Number of jobs that are looked at. */
const latest = 100;
const maxBranches = 30;

interface Known {
  /** Branches that the latest jobs of the project started from or created, then the others of its repository. */
  branches: string[];
  /** Paths of documents in the repository. */
  documents: string[];
}

/** Returns names of a project's repository, to suggest them for another job. */
export function useKnownNames(projectId: string): Known {
  const names = useQuery({
    queryKey: ['repository-names', projectId],
    enabled: projectId !== '',
    queryFn: () => answerOf(api.GET('/v1/projects/{id}/repository', { params: { path: { id: projectId } } })),
  });
  const { data } = useQuery({
    queryKey: ['known-branches', projectId],
    enabled: projectId !== '',
    staleTime: 60_000,
    queryFn: () => answerOf(api.GET('/v1/jobs', { params: { query: { project: projectId, limit: latest } } })),
    select: ({ jobs }) => branchesOf(jobs),
  });
  const { branches = [], documents = [] } = names.data ?? {};
  return { branches: [...new Set([...(data ?? []), ...branches])], documents };
}

/** Returns the branches that jobs started from, then those that hold the work of open pull requests. */
export function branchesOf(jobs: Pick<ListedJob, 'source' | 'branch' | 'details'>[]): string[] {
  const bases = jobs
    .filter(({ details }) => details.failure?.category !== 'ref_not_found')
    .map(({ source }) => source.ref);
  const open = jobs.map(({ branch, details }) => (details.pullRequest?.state === 'open' ? branch : null));
  return [...new Set([...bases, ...open])].filter((name) => name !== null).slice(0, maxBranches);
}
