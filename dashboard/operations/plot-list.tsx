import { Plot, type PlotProps } from './plot.tsx';
import { isEmpty } from './read-values.ts';

/** Shows plots, and names those that have nothing to show. */
export function PlotList({ plots }: { plots: PlotProps[] }) {
  return (
    <>
      <div className="plots">{plots.map((plot) => isEmpty(plot.series) || <Plot key={plot.title} {...plot} />)}</div>
      <EmptyPlots titles={plots.filter(({ series }) => isEmpty(series)).map(({ title }) => title)} />
    </>
  );
}

/** Names the plots that have nothing to show, in one line. */
export function EmptyPlots({ titles }: { titles: string[] }) {
  if (titles.length === 0) return null;
  return <p className="hint">No data in this period: {titles.join(', ')}.</p>;
}
