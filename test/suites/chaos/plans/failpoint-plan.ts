import type { Edge, Failpoint, FailpointAction } from '../failpoint-file.ts';
import type { Random } from './random.ts';

const edges: readonly Edge[] = ['before', 'after'];
/** Kills have the highest weight; a suspension takes the longest. */
const actions: readonly FailpointAction[] = ['kill', 'kill', 'kill', 'lose', 'lose', 'delay', 'halt'];

/** The place that fails in each run: both edges of every place that a job passes, in an order that the seed decides. */
export function planFailpoints({
  runs,
  passes,
  random,
}: {
  runs: number;
  /** How often an undisturbed job passes each place. */
  passes: ReadonlyMap<string, number>;
  random: Random;
}): Failpoint[] {
  const cells = [...passes].sort().flatMap(([name, count]) => edges.map((edge) => ({ name, edge, count })));
  const points: Failpoint[] = [];
  let left: typeof cells = [];
  for (let index = 0; index < runs; index += 1) {
    if (left.length === 0) left = random.shuffled(cells);
    const { name, edge, count } = left.pop()!;
    // passes are counted per process, and there are two workers
    const hit = random.between(1, Math.max(1, Math.min(3, Math.floor(count / 3))));
    points.push({ id: String(index), name, edge, hit, action: random.pick(actions) });
  }
  return points;
}
