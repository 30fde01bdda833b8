import { clockTime, dayAndTime } from '../../format.ts';

export interface Range {
  from: number;
  to: number;
}

interface Tick {
  at: number;
  position: number;
  label: string;
}

/** Room for idle time, as a share of the active time. */
const maxIdleShare = 0.03;
const leastBetweenTicks = 0.16;
const lastTick = 0.9;
const second = 1_000;
const minute = 60 * second;
const tickSizes = [
  ...[1, 2, 5, 10, 30].map((number) => number * second),
  ...[1, 2, 5, 10, 30, 60, 180, 720].map((number) => number * minute),
];

/** Time axis over all turns. Idle time between two turns takes little room. Positions are from 0 to 1. */
export type TimeAxis = ReturnType<typeof timeAxis>;

/** Returns the axis of turns, which are in order and do not overlap. */
export function timeAxis(turns: Range[]) {
  const active = turns.reduce((sum, { from, to }) => sum + to - from, 0);
  const starts: number[] = [];
  const idle: { at: number; ms: number }[] = [];
  let whole = 0;
  for (const [index, { from, to }] of turns.entries()) {
    const ms = Math.max(0, from - (turns[index - 1]?.to ?? from));
    const room = Math.min(ms, active * maxIdleShare);
    if (ms > room) idle.push({ at: whole + room / 2, ms });
    whole += room;
    starts.push(whole);
    whole += to - from;
  }
  const position = (at: number): number => {
    const index = Math.max(
      0,
      turns.findLastIndex(({ from }) => from <= at),
    );
    const { from, to } = turns[index] ?? { from: at, to: at };
    return ((starts[index] ?? 0) + Math.min(Math.max(at, from), to) - from) / Math.max(1, whole);
  };
  return {
    position,
    ticks: ticksOf(turns, position, active),
    /** Idle time that is not drawn to scale. */
    breaks: idle.map(({ at, ms }) => ({ position: at / Math.max(1, whole), ms })),
  };
}

function ticksOf(turns: Range[], position: (at: number) => number, active: number): Tick[] {
  const size = tickSizes.find((size) => active / size <= 1 / leastBetweenTicks) ?? active;
  const ticks: Tick[] = [];
  const add = (at: number, label: string) => {
    const place = position(at);
    const last = ticks.at(-1);
    if (place > lastTick) return;
    // the start of a turn may lie in the second of the tick before it
    if (last !== undefined && (place - last.position < leastBetweenTicks || last.label === label)) return;
    ticks.push({ at, position: place, label });
  };
  for (const [index, { from, to }] of turns.entries()) {
    const before = turns[index - 1]?.from ?? Date.now();
    const isSameDay = new Date(before).toDateString() === new Date(from).toDateString();
    add(from, isSameDay ? clockTime(from) : dayAndTime(from));
    for (let at = Math.ceil(from / size) * size; at < to; at += size) add(at, clockTime(at));
  }
  return ticks;
}
