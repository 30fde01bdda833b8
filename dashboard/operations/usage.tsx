import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { Button } from 'react-aria-components';
import { Loaded } from '../components/loaded.tsx';
import { cost, count } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { Usage } from '../http/types.ts';
import { plain } from '../plain.ts';
import { EmptyPlots } from './plot-list.tsx';
import { Plot, type Series } from './plot.tsx';
import { isEmpty, wholeCount } from './read-values.ts';

const spans = [7, 30, 90] as const;
const firstSpan = 30;
const colours = ['--blue', '--purple', '--amber', '--green', '--red'];

/** Returns the query for the daily usage of keys and projects. */
export function usageQuery(days: number = firstSpan) {
  return queryOptions({
    queryKey: ['usage', days],
    queryFn: () => answerOf(api.GET('/v1/usage', { params: { query: { days } } })),
    refetchInterval: 30_000,
    placeholderData: (before) => before,
  });
}

/** Shows the daily usage of keys and projects with their limits. */
export function UsageOverTime() {
  const [days, setDays] = useState<number>(firstSpan);
  const usage = useQuery(usageQuery(days));
  return (
    <section aria-labelledby="usage">
      <div className="page-head section-head">
        <h2 id="usage">Usage and limits</h2>
        <div className="segments" role="group" aria-label="Days">
          {spans.map((span) => (
            <Button key={span} className="segment" aria-pressed={days === span} onPress={() => setDays(span)}>
              {span} days
            </Button>
          ))}
        </div>
      </div>
      <Loaded query={usage} problem="Usage could not be loaded">
        {({ assistant, projects }) => (
          <div className="plots">
            <KeyPlots assistant={assistant} />
            <ProjectPlots projects={projects} />
          </div>
        )}
      </Loaded>
    </section>
  );
}

function KeyPlots({ assistant }: { assistant: Usage['assistant'] }) {
  const { keys, organization, limitPerHour } = assistant;
  const times = useMemo(() => organization.map(({ day }) => day), [organization]);
  const byKey = useMemo((): Series[] => {
    const busy = keys
      .filter(({ isRevoked, days }) => !isRevoked || days.some(({ requests }) => requests > 0))
      .map(({ id, name, days }) => ({
        label: plain(name ?? id),
        values: days.map(({ requests }) => requests),
        sum: days.reduce((sum, { requests }) => sum + requests, 0),
      }))
      .sort((a, b) => b.sum - a.sum);
    return busy
      .slice(0, colours.length)
      .map(({ label, values }, at) => ({ label, values, colour: colours[at] ?? '--blue' }));
  }, [keys]);
  const hours = useMemo(
    (): Series[] => [
      {
        label: 'accepted, busiest hour',
        colour: '--blue',
        values: organization.map(({ busiestHour }) => busiestHour),
      },
      { label: 'rejected, whole day', colour: '--red', values: organization.map(({ refused }) => refused) },
    ],
    [organization],
  );
  if (isEmpty(byKey) && isEmpty(hours)) return <EmptyPlots titles={['reader requests']} />;
  return (
    <>
      <Plot
        title="Reader requests per day, by key"
        times={times}
        series={byKey}
        format={wholeCount}
        kind={byKey.length === 1 ? 'bars' : 'lines'}
        span="day"
      />
      <Plot
        title="Reader requests per hour"
        times={times}
        series={hours}
        format={wholeCount}
        span="day"
        limit={{ value: limitPerHour, label: `limit: ${count(limitPerHour)} per hour, all keys together` }}
      />
    </>
  );
}

function ProjectPlots({ projects }: { projects: Usage['projects'] }) {
  const hasCost = ({ days }: Usage['projects'][number]) => days.some(({ costUsd }) => costUsd > 0);
  return (
    <>
      {projects.filter(hasCost).map((project) => (
        <ProjectPlot key={project.id} project={project} />
      ))}
      <EmptyPlots
        titles={projects.filter((project) => !hasCost(project)).map(({ name }) => `cost of ${plain(name)}`)}
      />
    </>
  );
}

function ProjectPlot({ project: { name, days, budgetUsd } }: { project: Usage['projects'][number] }) {
  const times = useMemo(() => days.map(({ day }) => day), [days]);
  const series = useMemo(
    (): Series[] => [{ label: 'US dollars', colour: '--amber', values: days.map(({ costUsd }) => costUsd) }],
    [days],
  );
  const limit = budgetUsd === null ? null : { value: budgetUsd, label: `budget: ${cost(budgetUsd)} per day` };
  return (
    <Plot
      title={`Cost per day: ${plain(name)}`}
      times={times}
      series={series}
      format={cost}
      kind="bars"
      span="day"
      limit={limit}
      note={limit === null ? 'No budget set.' : undefined}
    />
  );
}
