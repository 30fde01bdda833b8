import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { StatusBadge } from '../components/status.tsx';
import { ComparedChanges } from '../compare/compared-changes.tsx';
import { ComparedFacts, type Compared } from '../compare/compared-facts.tsx';
import { ComparedSteps } from '../compare/compared-steps.tsx';
import { MarkedWords } from '../compare/marked-words.tsx';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { Turn } from '../http/types.ts';
import { jobAddress, readJobAddress } from '../jobs/job-address.ts';
import { jobQuery, stepsQuery, turnsQuery, type JobRef } from '../jobs/job-queries.ts';
import { headline, plain } from '../plain.ts';
import { useTitle } from '../use-title.ts';
import '../styles/compare.css';
import '../styles/settings.css';

/** Compares two jobs, which the address names. */
export function ComparePage() {
  const search = useSearch({ from: '/compare' });
  const left = readJobAddress(search.left);
  const right = readJobAddress(search.right);
  useTitle('Compare jobs');
  if (left === null || right === null) {
    return (
      <ErrorNote title="Two jobs are needed" message="Select two jobs in the list, or choose Compare with… on a job." />
    );
  }
  return <Comparison left={left} right={right} />;
}

function Comparison({ left, right }: { left: JobRef; right: JobRef }) {
  const one = useCompared(left);
  const other = useCompared(right);
  const failed = [...one.queries, ...other.queries].filter(({ isError, data }) => isError && data === undefined);
  if (failed.length > 0) {
    return (
      <ErrorNote
        title="The jobs could not be loaded"
        message={messageOf(failed[0]?.error)}
        onRetry={() => void Promise.all(failed.map((query) => query.refetch()))}
      />
    );
  }
  if (one.compared === null || other.compared === null) return <Loading lines={8} />;
  return (
    <>
      <div className="page-head">
        <h1>Compare jobs</h1>
        <Link className="button" to="/compare" search={{ left: jobAddress(right), right: jobAddress(left) }} replace>
          Swap
        </Link>
      </div>
      <div className="compared">
        <JobHead name="Left" compared={one.compared} />
        <JobHead name="Right" compared={other.compared} />
      </div>
      <ComparedFacts left={one.compared} right={other.compared} />
      <h2 className="compared-title">Prompts</h2>
      <Prompts left={one.compared.turns} right={other.compared.turns} />
      <h2 className="compared-title">Steps</h2>
      <div className="compared">
        <ComparedSteps name="Left" compared={one.compared} />
        <ComparedSteps name="Right" compared={other.compared} />
      </div>
      <h2 className="compared-title">Changes</h2>
      <Changes left={one.diff} right={other.diff} />
    </>
  );
}

interface ComparedQueries {
  queries: Pick<UseQueryResult, 'isError' | 'data' | 'error' | 'refetch'>[];
  /** Null until everything but the diff is loaded. */
  compared: Compared | null;
  diff: UseQueryResult<string>;
}

const refetchMs = 3_000;

/** Loads a job. While it is active, it is read again every few seconds. */
function useCompared(ref: JobRef): ComparedQueries {
  const job = useQuery({
    ...jobQuery(ref),
    refetchInterval: ({ state: { data } }) => (data?.status === 'active' ? refetchMs : false),
  });
  // once more after the end, or data read shortly before it would stay
  const refetchInterval = ({ state }: { state: { dataUpdatedAt: number } }) =>
    job.data?.status === 'active' || state.dataUpdatedAt < job.dataUpdatedAt ? refetchMs : (false as const);
  const turns = useQuery({ ...turnsQuery(ref), refetchInterval });
  const steps = useQuery({ ...stepsQuery(ref), refetchInterval });
  const diff = useQuery({
    queryKey: ['job', ref.id, 'diff'],
    queryFn: () => answerOf(api.GET('/v2/agent/{projectId}/job/{id}/diff', { params: { path: ref }, parseAs: 'text' })),
    refetchInterval,
  });
  const { projectId } = ref;
  const project = useQuery({
    queryKey: ['project', projectId],
    queryFn: () => answerOf(api.GET('/v1/projects/{id}', { params: { path: { id: projectId } } })),
  });
  const budgetUsd = project.data?.jobBudgetUsd;
  const isLoaded = job.data !== undefined && turns.data !== undefined && steps.data !== undefined && !project.isPending;
  return {
    queries: [job, turns, steps],
    compared: isLoaded ? { projectId, job: job.data, turns: turns.data, steps: steps.data, budgetUsd } : null,
    diff,
  };
}

function JobHead({ name, compared: { projectId, job, turns } }: { name: string; compared: Compared }) {
  return (
    <section className="panel" aria-label={name}>
      <p className="hint">{name}</p>
      <p>
        <Link to="/jobs/$projectId/$id" params={{ projectId, id: job.id }}>
          {headline(plain(job.details.title ?? turns[0]?.prompt ?? job.id), 120)}
        </Link>
      </p>
      <StatusBadge job={job} />
    </section>
  );
}

function Prompts({ left, right }: { left: Turn[]; right: Turn[] }) {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const texts = { left: promptOf(left[index]), right: promptOf(right[index]) };
    return (
      <section key={index} aria-label={`Prompt of turn ${index + 1}`}>
        <h3>Turn {index + 1}</h3>
        <div className="compared">
          <MarkedWords {...texts} side="left" />
          <MarkedWords {...texts} side="right" />
        </div>
      </section>
    );
  });
}

/** Returns the prompt of a turn and the messages sent to it while it ran. */
function promptOf(turn: Turn | undefined): string {
  return turn === undefined ? '' : [turn.prompt, ...turn.messages.map(({ prompt }) => prompt)].join('\n\n');
}

function Changes({ left, right }: { left: UseQueryResult<string>; right: UseQueryResult<string> }) {
  const failed = [left, right].find(({ isError }) => isError);
  if (failed !== undefined) {
    return (
      <ErrorNote
        title="The changes could not be loaded"
        message={messageOf(failed.error)}
        onRetry={() => void failed.refetch()}
      />
    );
  }
  if (left.data === undefined || right.data === undefined) return <Loading />;
  return <ComparedChanges left={left.data} right={right.data} />;
}
