import { memo } from 'react';
import { Table } from '../components/table.tsx';
import type { Series } from './plot.tsx';

interface PlotTableProps {
  title: string;
  /** Names of the intervals. */
  times: string[];
  series: Series[];
  format(value: number): string;
}

/** Shows the data of a plot as a table, for people who cannot see the plot. */
export const PlotTable = memo(function PlotTable({ title, times, series, format }: PlotTableProps) {
  return (
    <details className="hint">
      <summary>As a table</summary>
      <Table name={`${title}, as a table`} columns={['From', ...series.map(({ label }) => label)]}>
        {times.map((time, index) => (
          <tr key={time}>
            <td>{time}</td>
            {series.map(({ label, values }) => {
              const value = values[index] ?? null;
              return <td key={label}>{value === null ? '' : format(value)}</td>;
            })}
          </tr>
        ))}
      </Table>
    </details>
  );
});
