import { useEffect, useMemo, useRef, useState } from 'react';
import UPlot from 'uplot';
import { cost, duration, fullTime } from '../format.ts';
import { PlotTable } from './plot-table.tsx';
import { movedBy, valuesAt } from './read-values.ts';
import 'uplot/dist/uPlot.min.css';

export interface Series {
  label: string;
  /** Custom property of the style sheet, such as `--green`. */
  colour: string;
  values: (number | null)[];
  /** Whether the line leaves gaps, through which a line with the same values is visible. */
  isDashed?: boolean;
}

export interface PlotProps {
  title: string;
  /** Start times of the intervals, in ISO format. */
  times: string[];
  series: Series[];
  format(value: number): string;
  kind?: 'lines' | 'bars';
  /** Upper limit for the values, drawn as a dashed line. */
  limit?: { value: number; label: string } | null;
  /** Text next to the title. */
  note?: string | undefined;
  /** With `day`, times are whole days (UTC). */
  span?: 'time' | 'day';
  /** Opens what happened in an interval, by a click or the Enter key. */
  onOpen?: (index: number) => void;
}

const noLimit = null;
const axisFont = '12px "Inter Variable", system-ui, -apple-system, "Segoe UI", sans-serif';
const minuteOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const localDayOf = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOf = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/**
 * Shows a plot over time. The values of an interval are shown under the pointer, and with the arrow keys; a table has all
 * of them.
 */
export function Plot(props: PlotProps) {
  const { title, times, series, format, kind = 'lines', limit = noLimit, note, span = 'time', onOpen } = props;
  const container = useRef<HTMLDivElement>(null);
  const drawn = useRef<UPlot>(null);
  const [at, setAt] = useState<{ index: number; isRight: boolean; offset: number } | null>(null);
  const scheme = useScheme();
  const last = Math.max(0, times.length - 1);
  const names = useMemo(() => (span === 'day' ? times : times.map(fullTime)), [times, span]);
  const point = (index: number | null) => {
    const time = index === null ? undefined : drawn.current?.data[0][index];
    drawn.current?.setCursor({ left: time === undefined ? -10 : drawn.current.valToPos(time, 'x'), top: 0 });
  };
  useEffect(() => {
    const element = container.current;
    if (element === null) return undefined;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => resolved(element, style.getPropertyValue(name));
    const ruler = document.createElement('canvas').getContext('2d');
    if (ruler !== null) ruler.font = axisFont;
    const widthOf = (label: string) => ruler?.measureText(label).width ?? 0;
    const axis = {
      size: 34,
      font: axisFont,
      stroke: colour('--quiet'),
      grid: { stroke: colour('--line'), width: 1 },
      ticks: { show: false },
    };
    const from = Date.parse(times[0] ?? '');
    const isShort = Date.parse(times.at(-1) ?? '') - from <= 2 * day * 1_000;
    const nameOf = (at: number) => (span === 'day' ? dayOf : isShort ? minuteOf : localDayOf).format(at);
    const bars = UPlot.paths.bars?.({ size: [0.7, 40] });
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: 190,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false } },
        scales: { y: { range: (_, __, max) => [0, rangeOf(max, limit?.value ?? 0)] } },
        ...(span === 'day' ? { tzDate: (seconds: number) => UPlot.tzDate(new Date(seconds * 1000), 'UTC') } : {}),
        hooks: {
          draw: [(plot: UPlot) => drawLimit(plot, limit?.value ?? null, colour('--red'))],
          setCursor: [(plot: UPlot) => setAt((before) => readingOf(plot, before))],
        },
        axes: [
          {
            ...axis,
            values: (_, values) => values.map((value) => nameOf(value * 1_000)),
            ...(span === 'day' ? { incrs: dayIncrements } : {}),
          },
          {
            ...axis,
            size: (_, labels) => axisSize(labels, widthOf),
            incrs: incrementsOf(format),
            values: (_, values) => values.map((value) => (value === null ? '' : format(value))),
          },
        ],
        series: [
          {},
          ...series.map((one) => ({
            label: one.label,
            stroke: colour(one.colour),
            // an outline would show bars of zero
            width: kind === 'bars' ? 0 : 2,
            spanGaps: true,
            ...(one.isDashed ? { dash: [6, 6] } : {}),
            ...(kind === 'bars' && bars !== undefined
              ? { paths: bars, fill: colour(one.colour), points: { show: false } }
              : // without neighboring values a line has no length, so points are shown
                { points: { show: one.values.includes(null), size: 6, fill: colour(one.colour) } }),
          })),
        ],
      },
      [times.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => values)],
      element,
    );
    drawn.current = plot;
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: 190 }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      drawn.current = null;
      setAt(null);
      plot.destroy();
    };
  }, [times, series, format, kind, scheme, limit?.value, span]);
  return (
    <figure className="plot panel">
      <figcaption>
        <h2>{title}</h2>
        <ul className="legend">
          {series.map(({ label, colour }) => (
            <li key={label}>
              <span className="swatch" style={{ background: `var(${colour})` }} aria-hidden="true" /> {label}
            </li>
          ))}
          {limit !== null && (
            <li>
              <span className="swatch swatch-limit" aria-hidden="true" /> {limit.label}
            </li>
          )}
          {note !== undefined && <li>{note}</li>}
        </ul>
      </figcaption>
      <div
        ref={container}
        className="plot-area"
        data-opens={onOpen !== undefined || undefined}
        aria-description={onOpen === undefined ? undefined : 'Press Enter to open the conversations of the interval.'}
        role="slider"
        tabIndex={0}
        aria-label={`${title}: values by time`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at?.index ?? last}
        aria-valuetext={`${names[at?.index ?? last] ?? ''}: ${valuesAt(series, at?.index ?? last, format)}`}
        onFocus={({ currentTarget }) => {
          if (currentTarget.matches(':focus-visible')) point(last);
        }}
        onBlur={() => point(null)}
        onClick={() => at !== null && onOpen?.(at.index)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onOpen?.(at?.index ?? last);
          const next = movedBy(event.key, at?.index ?? last, last);
          if (next === null) return;
          event.preventDefault();
          point(next);
        }}
      >
        {at !== null && (
          <div className="plot-values" style={at.isRight ? { right: at.offset } : { left: at.offset }}>
            <b>{names[at.index]}</b>
            {series.map(({ label, colour, values }) => (
              <div key={label}>
                <span className="swatch" style={{ background: `var(${colour})` }} aria-hidden="true" /> {label}{' '}
                {valuesAt([{ label: '', colour, values }], at.index, format)}
              </div>
            ))}
          </div>
        )}
      </div>
      <PlotTable title={title} times={names} series={series} format={format} />
    </figure>
  );
}

/** Returns the interval under the pointer and where its values are shown: beside it, towards the middle. */
function readingOf<Reading extends { index: number }>(
  { cursor, data, over, valToPos }: UPlot,
  before: Reading | null,
): Reading | { index: number; isRight: boolean; offset: number } | null {
  const { idx, left = -1 } = cursor;
  const time = typeof idx === 'number' ? data[0][idx] : undefined;
  if (typeof idx !== 'number' || time === undefined || left < 0) return null;
  if (before?.index === idx) return before;
  const x = valToPos(time, 'x');
  const isRight = x > over.clientWidth / 2;
  return { index: idx, isRight, offset: 12 + (isRight ? over.clientWidth - x : x + over.offsetLeft) };
}

/** Returns the width of the y axis, which fits its longest label. There are no labels before the first drawing. */
export function axisSize(labels: readonly string[] | null, widthOf: (label: string) => number): number {
  return Math.ceil(Math.max(40, ...(labels ?? []).map(widthOf))) + 12;
}

const day = 86_400;
const decimal = (unit: number) => [unit, 2 * unit, 5 * unit];
/** Steps of an axis of durations, in milliseconds. */
const durationIncrements = [
  ...[1, 10, 100].flatMap(decimal),
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 5, 10, 24, 48].map((hours) => hours * 3_600_000),
];
/** Steps of an axis of costs, in US dollars: from a cent on, only whole cents, which is what labels show. */
const costIncrements = [...decimal(0.0001), 0.001, 0.002, ...[0.01, 0.1, 1, 10, 100, 1_000, 10_000].flatMap(decimal)];
const numberIncrements = Array.from({ length: 12 }, (_, power) => 10 ** power).flatMap(decimal);

/** Returns the steps of an axis whose labels are round. */
export function incrementsOf(format: PlotProps['format']): number[] {
  if (format === duration) return durationIncrements;
  return format === cost ? costIncrements : numberIncrements;
}
const dayIncrements = [1, 2, 5, 7, 14, 30].map((days) => days * day);

/**
 * Returns the top of the axis. The limit is shown once a good part of it is used; far below it, the values fill the
 * plot.
 */
function rangeOf(most: number, limit: number): number {
  return Math.max(most, most >= limit / 20 ? limit : 0) * 1.1 || 1;
}

function drawLimit({ ctx, bbox, valToPos, scales }: UPlot, limit: number | null, colour: string): void {
  if (limit === null || limit > (scales['y']?.max ?? 0)) return;
  const y = valToPos(limit, 'y', true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** Resolves `light-dark()` and similar values to a color. */
function resolved(element: HTMLElement, value: string): string {
  element.style.color = value;
  const colour = getComputedStyle(element).color;
  element.style.color = '';
  return colour;
}

/** Returns a value that changes when the page switches between light and dark. */
function useScheme(): string {
  const [scheme, setScheme] = useState('');
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const read = () => setScheme(`${document.documentElement.dataset['theme'] ?? 'system'} ${dark.matches}`);
    read();
    dark.addEventListener('change', read);
    const watch = new MutationObserver(read);
    watch.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      dark.removeEventListener('change', read);
      watch.disconnect();
    };
  }, []);
  return scheme;
}
