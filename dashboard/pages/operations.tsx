import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { Loaded, Settled } from '../components/loaded.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { cost, count, duration, percent, plural, tokens } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Operations } from '../http/types.ts';
import type { Age, JobFilters } from '../jobs/list/filters.ts';
import { isSilent } from '../jobs/no-worker.tsx';
import { FigureList } from '../operations/figure-list.tsx';
import { PlotList } from '../operations/plot-list.tsx';
import { successOf, wholeCount } from '../operations/read-values.ts';
import { UsageOverTime, usageQuery } from '../operations/usage.tsx';
import { plain } from '../plain.ts';
import { useTitle } from '../use-title.ts';
import '../styles/settings.css';
import '../styles/job.css';
import '../styles/operations.css';

const spans = [
  [1, 'hour', 'hour'],
  [24, 'day', 'day'],
  [168, 'week', 'week'],
  [720, '30 days', 'month'],
] as const;

/** Shows throughput, failures, latency and cost of the service. */
export function OperationsPage() {
  const [hours, setHours] = useState<(typeof spans)[number][0]>(24);
  const age = spans.find(([span]) => span === hours)?.[2] ?? 'day';
  const operations = useQuery({
    queryKey: ['operations', hours],
    queryFn: () => answerOf(api.GET('/v1/operations', { params: { query: { hours } } })),
    refetchInterval: 10_000,
    placeholderData: (before) => before,
  });
  const usage = useQuery(usageQuery());
  useTitle('Operations');
  return (
    <>
      <div className="page-head">
        <h1>Operations</h1>
        <div className="segments" role="group" aria-label="Time">
          {spans.map(([span, label]) => (
            <Button key={span} className="segment" aria-pressed={hours === span} onPress={() => setHours(span)}>
              {label}
            </Button>
          ))}
        </div>
      </div>
      <Settled queries={[operations, usage]}>
        <Loaded query={operations} problem="Metrics could not be loaded">
          {(data) => (
            <>
              <Figures operations={data} />
              <Failures failures={data.failures.filter(({ category }) => category !== 'cancelled')} age={age} />
              <Workers operations={data} />
              <Plots operations={data} />
              <UsageOverTime />
              <ByModel models={data.models} age={age} />
              <ByProject projects={data.projects} age={age} />
            </>
          )}
        </Loaded>
      </Settled>
    </>
  );
}

function Figures({ operations }: { operations: Operations }) {
  const { queue, latency } = operations;
  const ms = (value: number | null) => (value === null ? '–' : duration(value));
  const sumOf = (kind: Exclude<keyof Operations['cost'][number], 'at'>) =>
    operations.cost.reduce((sum, bucket) => sum + bucket[kind], 0);
  const input = sumOf('inputTokens');
  const cached = sumOf('cachedInputTokens');
  const figures = [
    [
      'Queued jobs',
      count(queue.waiting),
      queue.oldestSeconds === null ? '' : `oldest ${duration(queue.oldestSeconds * 1000)}`,
    ],
    ['Active jobs', count(queue.active), ''],
    ['Success rate', ...successOf(operations.throughput)],
    ['Turn duration (p50)', ms(latency.jobs.p50Ms), `p95 ${ms(latency.jobs.p95Ms)}`],
    ['Model latency (p50)', ms(latency.model.p50Ms), `p95 ${ms(latency.model.p95Ms)}`],
    ['Time to first token (p50)', ms(latency.answers.firstTokenP50Ms), plural(latency.answers.count, 'answer')],
    [
      'Cost',
      cost(sumOf('costUsd')),
      `${tokens(input)} tokens in${cached > 0 ? ` (${percent(cached / input)} from cache)` : ''}, ${tokens(sumOf('outputTokens'))} out`,
    ],
  ] as const;
  return <FigureList figures={figures} />;
}

function Plots({ operations }: { operations: Operations }) {
  const { throughput, latency, cost: spending, answers } = operations;
  const plots = useMemo(
    () => [
      {
        title: 'Turns',
        times: throughput.map(({ at }) => at),
        format: wholeCount,
        kind: 'lines' as const,
        series: [
          { label: 'started', colour: '--blue', values: throughput.map(({ created }) => created) },
          { label: 'completed', colour: '--green', values: throughput.map(({ completed }) => completed) },
          { label: 'failed', colour: '--red', values: throughput.map(({ failed }) => failed) },
          { label: 'cancelled', colour: '--quiet', values: throughput.map(({ cancelled }) => cancelled) },
        ],
      },
      {
        title: 'Turn duration',
        times: latency.series.map(({ at }) => at),
        format: duration,
        kind: 'lines' as const,
        series: [
          { label: 'p50', colour: '--blue', values: latency.series.map(({ jobP50Ms }) => jobP50Ms) },
          {
            label: 'p95',
            colour: '--purple',
            values: latency.series.map(({ jobP95Ms }) => jobP95Ms),
            isDashed: true,
          },
        ],
      },
      {
        title: 'Cost',
        times: spending.map(({ at }) => at),
        format: cost,
        kind: 'bars' as const,
        series: [{ label: 'US dollars', colour: '--amber', values: spending.map(({ costUsd }) => costUsd) }],
      },
      {
        title: 'Reader questions',
        times: answers.map(({ at }) => at),
        format: wholeCount,
        kind: 'lines' as const,
        series: [
          { label: 'answered', colour: '--green', values: answers.map(({ answered }) => answered) },
          { label: 'unanswered', colour: '--amber', values: answers.map(({ unanswered }) => unanswered) },
        ],
      },
    ],
    [throughput, latency, spending, answers],
  );
  return <PlotList plots={plots} />;
}

type Named = Omit<Operations['models'][number], 'model'>;

function ByModel({ models, age }: { models: Operations['models']; age: Age }) {
  const rows = models.map(({ model, ...figures }) => ({ id: model, name: model, filter: { model }, figures }));
  return <Compared title="By model" of="Model" rows={rows} age={age} />;
}

function ByProject({ projects, age }: { projects: Operations['projects']; age: Age }) {
  if (projects.length < 2) return null;
  const rows = projects.map(({ projectId, name, ...figures }) => ({
    id: projectId,
    name: name ?? `${projectId} (deleted)`,
    filter: { project: projectId },
    figures,
  }));
  return <Compared title="By project" of="Project" rows={rows} age={age} />;
}

interface ComparedProps {
  title: string;
  of: string;
  rows: { id: string; name: string; filter: JobFilters; figures: Named }[];
  age: Age;
}

/** Compares models or projects, with links to their jobs in this period. */
function Compared({ title, of, rows, age }: ComparedProps) {
  if (rows.length === 0) return null;
  return (
    <>
      <h2 className="section-head">{title}</h2>
      <Table name={title} columns={[of, 'Success rate', 'Turns', 'Failed', 'Cost']}>
        {rows.map(({ id, name, filter, figures }) => {
          const [rate, turns] = successOf([figures]);
          return (
            <tr key={id}>
              <td>
                <Link to="/jobs" search={{ ...filter, age }}>
                  {plain(name)}
                </Link>
              </td>
              <td>{rate}</td>
              <td>{turns}</td>
              <td>
                {figures.failed === 0 ? (
                  '0'
                ) : (
                  <Link
                    to="/jobs"
                    search={{ ...filter, status: 'failed', age }}
                    aria-label={`${plural(figures.failed, 'failed turn')} of ${plain(name)}`}
                  >
                    {count(figures.failed)}
                  </Link>
                )}
              </td>
              <td>{cost(figures.costUsd)}</td>
            </tr>
          );
        })}
      </Table>
    </>
  );
}

function Failures({ failures, age }: { failures: Operations['failures']; age: Age }) {
  const most = Math.max(1, ...failures.map((failure) => failure.count));
  return (
    <>
      <h2 className="section-head">Failures</h2>
      {failures.length === 0 && <p className="quiet">None.</p>}
      <ul className="bars">
        {failures.map(({ category, title, count: times }) => (
          <li key={category}>
            <Link to="/jobs" search={{ failure: category, age }}>
              {title} <code className="quiet">{category}</code>
            </Link>
            <progress aria-label={`${title}: ${times}`} max={most} value={times} />
            <span>{count(times)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Workers({ operations: { workers, workerCount, to } }: { operations: Operations }) {
  return (
    <>
      <h2 className="section-head">Workers</h2>
      {workerCount === 0 && <p className="field-error">No worker has reported in the last 10 minutes.</p>}
      {workers === null && workerCount > 0 && <p>{plural(workerCount, 'worker')}</p>}
      {workers !== null && workerCount > 0 && (
        <Table name="Workers" columns={['Host', 'State', 'Process', 'Version', 'Active tasks', 'Started', 'Last seen']}>
          {workers.map(({ id, host, pid, version, activeTasks, startedAt, seenAt }) => (
            <tr key={id}>
              <td>{host}</td>
              <td>
                {isSilent(to, seenAt) ? (
                  <span className="badge badge-bad">not reporting</span>
                ) : (
                  <span className="badge badge-good">running</span>
                )}
              </td>
              <td>{pid}</td>
              <td>
                <code>{version}</code>
              </td>
              <td>{count(activeTasks)}</td>
              <td>
                <Ago date={startedAt} />
              </td>
              <td>
                <Ago date={seenAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </>
  );
}
