import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { cost, count, percent, plural } from '../format.ts';
import type { Analytics } from '../http/types.ts';
import { FigureList } from '../operations/figure-list.tsx';
import { PlotList } from '../operations/plot-list.tsx';
import { wholeCount } from '../operations/read-values.ts';
import type { Selection } from './selection.ts';

/** Shows the totals as a list of figures. */
export function Figures(totals: Analytics['totals']) {
  const { questions, answered, unanswered, conversations, confirmed, resolved, up, down, costUsd, deflection } = totals;
  const figures = [
    ['Questions', count(questions), plural(conversations, 'conversation')],
    ['Answered', percent(totals.answeredShare), `${count(answered)} of ${count(answered + unanswered)}`],
    [
      'Deflection',
      conversations === 0 ? '–' : `${percent(deflection.confirmed)} to ${percent(deflection.resolved)}`,
      `${count(confirmed)} confirmed, ${count(resolved)} resolved`,
    ],
    ['Votes', `${count(up)} up`, `${count(down)} down`],
    ['Cost', cost(costUsd), questions === 0 ? '' : `${cost(costUsd / questions)} per question`],
  ] as const;
  return <FigureList figures={figures} />;
}

/** Shows the figures over time. A click opens the conversations of an interval. */
export function Plots({
  analytics: { series, bucketSeconds },
  selection,
}: {
  analytics: Analytics;
  selection: Selection;
}) {
  const navigate = useNavigate();
  const isDaily = bucketSeconds === 86_400;
  const times = useMemo(() => series.map(({ at }) => (isDaily ? at.slice(0, 10) : at)), [series, isDaily]);
  const plots = useMemo(
    () => [
      {
        title: 'Questions',
        format: wholeCount,
        kind: 'lines' as const,
        series: [
          { label: 'answered', colour: '--green', values: series.map(({ answered }) => answered) },
          { label: 'unanswered', colour: '--amber', values: series.map(({ unanswered }) => unanswered) },
          { label: 'interrupted', colour: '--quiet', values: series.map(({ interrupted }) => interrupted) },
        ],
      },
      {
        title: 'Conversations',
        format: wholeCount,
        kind: 'lines' as const,
        series: [
          { label: 'all', colour: '--blue', values: series.map(({ conversations }) => conversations) },
          { label: 'resolved', colour: '--green', values: series.map(({ resolved }) => resolved) },
          { label: 'confirmed', colour: '--purple', values: series.map(({ confirmed }) => confirmed) },
        ],
      },
      {
        title: 'Votes',
        format: wholeCount,
        kind: 'lines' as const,
        series: [
          { label: 'up', colour: '--green', values: series.map(({ up }) => up) },
          { label: 'down', colour: '--red', values: series.map(({ down }) => down) },
        ],
      },
      {
        title: 'Cost',
        format: cost,
        kind: 'bars' as const,
        series: [{ label: 'US dollars', colour: '--amber', values: series.map(({ costUsd }) => costUsd) }],
      },
    ],
    [series],
  );
  const { days: _, ...filters } = selection;
  const open = (index: number) => {
    const since = series[index]?.at;
    if (since === undefined) return;
    const until = new Date(Date.parse(since) + bucketSeconds * 1_000).toISOString();
    void navigate({ to: '/conversations', search: { ...filters, since, until } });
  };
  return <PlotList plots={plots.map((plot) => ({ ...plot, times, span: isDaily ? 'day' : 'time', onOpen: open }))} />;
}
