import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, memo, Suspense, useEffect, useMemo, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { messageOf } from '../http/client.ts';
import type { Job, Step, Turn } from '../http/types.ts';
import { LiveDot } from '../components/live-dot.tsx';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { PullRequestBadge, StatusBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { cost, plural, repositoryName, tokens } from '../format.ts';
import { Conversation } from '../jobs/conversation.tsx';
import { FollowUp } from '../jobs/follow-up.tsx';
import { JobActions } from '../jobs/job-actions.tsx';
import { jobQuery, stepsQuery, turnsQuery, useLiveJob, type JobRef, type PhaseMark } from '../jobs/job-queries.ts';
import { segmentsOf, TimeStrip } from '../jobs/time-strip.tsx';
import { plain } from '../plain.ts';
import '../styles/job.css';

const JobDiff = lazy(() => import('../diff/job-diff.tsx').then(({ JobDiff }) => ({ default: JobDiff })));

export function JobPage() {
  const { projectId, id } = useParams({ from: '/jobs/$projectId/$id' });
  // a further turn begins a further stream of events
  const [rounds, setRounds] = useState(0);
  return <JobView key={`${id} ${rounds}`} job={{ projectId, id }} onFurtherTurn={() => setRounds(rounds + 1)} />;
}

function JobView({ job: ref, onFurtherTurn }: { job: JobRef; onFurtherTurn(): void }) {
  const job = useQuery(jobQuery(ref));
  const turns = useQuery(turnsQuery(ref));
  const steps = useQuery(stepsQuery(ref));
  const { connection, ...live } = useLiveJob(ref);
  const title = plain(job.data?.details.title ?? turns.data?.[0]?.prompt ?? 'Job').slice(0, 300);
  useEffect(() => {
    document.title = `${title.slice(0, 80)} · Docket`;
  }, [title]);
  if (job.isError) return <ErrorNote title="The job could not be loaded" message={messageOf(job.error)} />;
  if (job.isPending) return <Loading />;
  const wasEnded = job.data.status !== 'active';
  return (
    <>
      <div className="page-head">
        <h1 className="job-title">{title}</h1>
        <StatusBadge job={job.data} />
        {job.data.status === 'active' && <LiveDot connection={connection} />}
      </div>
      <JobFacts job={job.data} projectId={ref.projectId} />
      <JobActions job={ref} status={job.data.status} turn={turns.data?.length ?? 1} />
      {job.data.details.failure !== null && (
        <FailureNote
          job={job.data}
          projectId={ref.projectId}
          prompt={turns.data?.at(-1)?.prompt ?? ''}
          failure={job.data.details.failure}
        />
      )}
      {turns.isError && <ErrorNote title="The conversation could not be loaded" message={messageOf(turns.error)} />}
      {turns.data !== undefined && steps.data !== undefined && (
        <>
          <Times turns={turns.data} steps={steps.data} phases={live.phases} />
          <Tabs className="tabs">
            <TabList aria-label="Job" className="tab-list">
              <Tab id="conversation" className="tab">
                Conversation
              </Tab>
              <Tab id="changes" className="tab">
                Changes
              </Tab>
            </TabList>
            <TabPanel id="conversation">
              <Conversation job={ref} details={job.data.details} turns={turns.data} steps={steps.data} live={live} />
              <FollowUp job={ref} status={job.data.status} onSent={() => wasEnded && onFurtherTurn()} />
            </TabPanel>
            <TabPanel id="changes">
              <Suspense fallback={<Loading />}>
                <JobDiff job={ref} />
              </Suspense>
            </TabPanel>
          </Tabs>
        </>
      )}
    </>
  );
}

function JobFacts({ job, projectId }: { job: Job; projectId: string }) {
  const { steps, usage, pullRequest, forkedFrom } = job.details;
  return (
    <dl className="facts">
      <Fact name="Repository">
        {repositoryName(job.source.repository)} {job.source.ref !== null && <code>{job.source.ref}</code>}
      </Fact>
      <Fact name="Pull request">
        {job.prLink === null ? (
          <span className="quiet">{job.status === 'active' ? 'not yet' : 'none'}</span>
        ) : (
          <>
            <a href={job.prLink}>View</a> {pullRequest !== null && <PullRequestBadge {...pullRequest} />}
          </>
        )}
      </Fact>
      <Fact name="Model">
        <code>{job.model}</code>
      </Fact>
      <Fact name="Usage">
        {plural(steps, 'step')}, {tokens(usage.inputTokens)} tokens in, {tokens(usage.outputTokens)} out
      </Fact>
      <Fact name="Cost">{cost(usage.costUsd)}</Fact>
      <Fact name="Created">
        <Ago date={job.createdAt} />
      </Fact>
      {forkedFrom !== null && (
        <Fact name="Forked from">
          <Link to="/jobs/$projectId/$id" params={{ projectId, id: forkedFrom.jobId }}>
            step {forkedFrom.step} of another job
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

interface FailureNoteProps {
  job: Job;
  projectId: string;
  prompt: string;
  failure: NonNullable<Job['details']['failure']>;
}

/** Why a job failed, and what a person can do. */
function FailureNote({ job, projectId, prompt, failure }: FailureNoteProps) {
  return (
    <section className="note note-error failure">
      <h2>{failure.title}</h2>
      <p>{failure.remedy}</p>
      <p className="hint">
        Category <code>{failure.category}</code>.{' '}
        {failure.retryable
          ? 'A retry may help: send a follow-up message below or fork from a step.'
          : 'A plain retry will fail again. A follow-up message below starts another turn.'}
      </p>
      <div className="actions">
        <Link
          className="button"
          to="/new"
          state={{ again: { projectId, prompt, ref: job.source.ref ?? '', model: job.model } }}
        >
          Retry
        </Link>
      </div>
    </section>
  );
}

const Times = memo(function Times({ turns, steps, phases }: { turns: Turn[]; steps: Step[]; phases: PhaseMark[] }) {
  const isOpen = turns.at(-1)?.endedAt === null;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isOpen) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isOpen]);
  const strips = useMemo(() => {
    const ofTurns = Map.groupBy(steps, ({ turn }) => turn);
    return turns.map((turn) => ({
      turn: turn.turn,
      segments: segmentsOf(turn, ofTurns.get(turn.turn) ?? [], phases, now),
    }));
  }, [turns, steps, phases, now]);
  return (
    <div className="strips">
      {strips.map(({ turn, segments }) => (
        <TimeStrip key={turn} label={turns.length === 1 ? 'Time breakdown' : `Turn ${turn}`} segments={segments} />
      ))}
    </div>
  );
});
