import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useRef, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { nameOfActor } from '../actor.ts';
import { isMissing, messageOf } from '../http/client.ts';
import type { Job, Turn } from '../http/types.ts';
import { LiveDot } from '../components/live-dot.tsx';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { StatusBadge } from '../components/status.tsx';
import { Ago, Elapsed } from '../components/time.tsx';
import { cost, inputParts, plural, repositoryName, tokens } from '../format.ts';
import { CommandOutputView } from '../jobs/timeline/command-output.tsx';
import type { CommandOutput } from '../jobs/timeline/command-outputs.ts';
import { Conversation, type ConversationHandle } from '../jobs/conversation.tsx';
import { Copy } from '../components/copy.tsx';
import { FollowUp } from '../jobs/follow-up.tsx';
import { JobActions } from '../jobs/job-actions.tsx';
import { jobAddress } from '../jobs/job-address.ts';
import {
  jobQuery,
  listedJobQuery,
  stepsPerPage,
  stepsQuery,
  turnsQuery,
  useLiveJob,
  type JobRef,
} from '../jobs/job-queries.ts';
import { NoWorker, useQueueProblem } from '../jobs/no-worker.tsx';
import { Result } from '../jobs/result.tsx';
import { WaitingNote } from '../jobs/waiting-note.tsx';
import { Waterfall } from '../jobs/timeline/waterfall.tsx';
import { useWatched } from '../notifications/job-notifications.tsx';
import { headline, plain } from '../plain.ts';
import { useLatch } from '../use-latch.ts';
import { useTitle } from '../use-title.ts';
import '../styles/job.css';

const JobDiff = lazy(() => import('../diff/job-diff.tsx').then(({ JobDiff }) => ({ default: JobDiff })));

export function JobPage() {
  const { projectId, id } = useParams({ from: '/jobs/$projectId/$id' });
  return <JobView key={id} job={{ projectId, id }} />;
}

function JobView({ job: ref }: { job: JobRef }) {
  useWatched(ref.id);
  const job = useQuery(jobQuery(ref));
  const turns = useQuery(turnsQuery(ref));
  const steps = useQuery(stepsQuery(ref));
  const endedAt = turns.data?.at(-1)?.endedAt ?? null;
  const hasChange = typeof job.data?.prLink === 'string' && endedAt !== null;
  const listed = useQuery({ ...listedJobQuery(ref.id, endedAt), enabled: hasChange });
  const change = hasChange ? (listed.data ?? null) : null;
  const { tab = 'conversation' } = useSearch({ from: '/jobs/$projectId/$id' });
  const navigate = useNavigate({ from: '/jobs/$projectId/$id' });
  const [round, setRound] = useState(0);
  const { connection, ...live } = useLiveJob(ref, round);
  const conversation = useRef<ConversationHandle>(null);
  const showItem = useCallback((anchor: string) => conversation.current?.show(anchor), []);
  const firstTitle = live.ends.find(({ turn }) => turn === 1)?.title;
  const title = headline(plain(firstTitle ?? job.data?.details.title ?? turns.data?.[0]?.prompt ?? 'Job'));
  useTitle(headline(title, 80));
  const problem = useQueueProblem(job.data?.details.phase === 'queued');
  // the steps of a long job arrive in several pages, below the first ones
  const hasSteps = !steps.isPending || (job.data?.details.steps ?? 0) > stepsPerPage;
  // earlier, arriving steps would move the content, and a click could miss
  const isComplete = useLatch(
    !job.isPending && !turns.isPending && hasSteps && !(hasChange && listed.isPending) && problem !== undefined,
  );
  if (job.isError)
    return (
      <ErrorNote
        title="The job could not be loaded"
        message={messageOf(job.error)}
        onRetry={isMissing(job.error) ? undefined : () => void job.refetch()}
      >
        <Link to="/jobs" className="button">
          All jobs
        </Link>
      </ErrorNote>
    );
  if (job.isPending || !isComplete) return <Loading lines={8} />;
  const wasEnded = job.data.status !== 'active';
  const followNewTurn = () => wasEnded && setRound(round + 1);
  return (
    <>
      <div className="page-head">
        <h1 className="job-title">{title}</h1>
        <StatusBadge job={job.data} />
        {job.data.status === 'active' && <LiveDot connection={connection} />}
        {job.data.status === 'active' && <TurnTime job={job.data} turn={turns.data?.at(-1)} />}
      </div>
      <NoWorker problem={problem ?? null} />
      <WaitingNote job={ref} state={job.data} />
      {job.data.status !== 'active' && (
        <Result
          job={job.data}
          projectId={ref.projectId}
          turn={turns.data?.at(-1)}
          steps={steps.data ?? []}
          change={change}
          onShow={showItem}
        />
      )}
      <JobFacts
        job={job.data}
        projectId={ref.projectId}
        turn={turns.data?.at(-1)}
        startedBy={nameOfActor(turns.data?.[0]?.startedBy ?? null)}
        branch={change?.branch ?? null}
      />
      <JobActions
        job={ref}
        status={job.data.status}
        turn={turns.data?.length ?? 1}
        hasChange={job.data.prLink !== null || steps.data?.some((step) => step.hasChanged) === true}
      />
      {turns.isError && <ErrorNote title="The conversation could not be loaded" message={messageOf(turns.error)} />}
      {turns.data !== undefined && steps.data !== undefined && (
        <>
          <Waterfall
            turns={turns.data}
            steps={steps.data}
            phases={live.phases}
            starts={live.starts}
            failure={job.data.details.failure?.category ?? null}
            onGo={showItem}
          />
          <Tabs
            className="tabs"
            selectedKey={tab}
            onSelectionChange={(chosen) =>
              void navigate({
                search: chosen === 'changes' ? { tab: 'changes' } : {},
                replace: true,
                resetScroll: false,
              })
            }
          >
            <TabList aria-label="Job" className="tab-list">
              <Tab id="conversation" className="tab">
                Conversation
              </Tab>
              <Tab id="changes" className="tab">
                Changes
              </Tab>
            </TabList>
            <TabPanel id="conversation">
              <Conversation
                ref={conversation}
                job={ref}
                snapshot={job.data}
                turns={turns.data}
                steps={steps.data}
                live={live}
              />
              <SetupOutput job={ref} status={job.data.status} output={live.outputs.get('')} />
              <FollowUp job={ref} state={job.data} onSent={followNewTurn} />
            </TabPanel>
            <TabPanel id="changes">
              <Suspense fallback={<Loading />}>
                <JobDiff job={ref} onSent={followNewTurn} />
              </Suspense>
            </TabPanel>
          </Tabs>
        </>
      )}
    </>
  );
}

/** Shows how long the newest turn of an active job has been queued, running or waiting for a person. */
function TurnTime({ job: { details }, turn }: { job: Job; turn: Turn | undefined }) {
  const { phase, waiting } = details;
  const since = waiting?.since ?? turn?.createdAt;
  if (since === undefined) return null;
  return (
    <span className="quiet">
      <Elapsed since={since} doing={phase === 'queued' || phase === 'waiting' ? phase : 'running'} />
    </span>
  );
}

interface SetupOutputProps {
  job: JobRef;
  status: Job['status'];
  output: CommandOutput | undefined;
}

/** Shows what the setup of the job's environment prints while it runs. */
function SetupOutput({ job, status, output }: SetupOutputProps) {
  if (status !== 'active' || output === undefined || output.durationMs !== null) return null;
  return (
    <section className="tools" aria-label="Setup">
      <div className="tool-inside">
        <CommandOutputView job={job} output={output} />
      </div>
    </section>
  );
}

interface JobFactsProps {
  job: Job;
  projectId: string;
  /** The newest turn; undefined until it is loaded. */
  turn: Turn | undefined;
  /** Null while it is unknown. */
  startedBy: string | null;
  /** Branch of its pull request; null for none, and until it is loaded. */
  branch: string | null;
}

function JobFacts({ job, projectId, turn, startedBy, branch }: JobFactsProps) {
  const { models, steps, usage, forkedFrom } = job.details;
  const parts = inputParts(usage);
  const commit = turn?.headCommit ?? turn?.baseCommit ?? null;
  return (
    <dl className="facts">
      <Fact name="Job">
        <code>{job.id}</code> <Copy label="job id" text={job.id} />
      </Fact>
      <Fact name="Repository">
        {repositoryName(job.source.repository)} {job.source.ref !== null && <code>{job.source.ref}</code>}
      </Fact>
      {branch !== null && (
        <Fact name="Branch">
          <code>{branch}</code> <Copy label="branch" text={branch} />
        </Fact>
      )}
      {commit !== null && (
        <Fact name={turn?.headCommit === null ? 'Base commit' : 'Commit'}>
          <code>{commit.slice(0, 10)}</code> <Copy label="commit" text={commit} />
        </Fact>
      )}
      <Fact name="Model">
        <code>{models.join(', then ')}</code>
      </Fact>
      <Fact name="Usage">
        {plural(steps, forkedFrom === null ? 'step' : 'new step')}, {tokens(usage.inputTokens)} tokens in
        {parts !== null && ` (${parts})`}, {tokens(usage.outputTokens)} out
      </Fact>
      <Fact name="Cost">{cost(usage.costUsd)}</Fact>
      <Fact name="Created">
        <Ago date={job.createdAt} /> {startedBy !== null && `by ${startedBy}`}
      </Fact>
      {forkedFrom !== null && (
        <Fact name="Forked from">
          <Link to="/jobs/$projectId/$id" params={{ projectId, id: forkedFrom.jobId }}>
            step {forkedFrom.step} of another job
          </Link>
          {' · '}
          <Link
            to="/compare"
            search={{
              left: jobAddress({ projectId, id: forkedFrom.jobId }),
              right: jobAddress({ projectId, id: job.id }),
            }}
          >
            Compare
          </Link>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
