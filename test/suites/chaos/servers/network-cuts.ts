import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from '../faults.ts';
import type { HitFinder, HitJob } from '../hit-jobs.ts';
import type { JobRun } from '../job-run.ts';
import type { Member } from './members.ts';
import type { Random } from '../plans/random.ts';
import type { Wire } from '../wire.ts';

const targets = ['temporal', 'postgres', 'forge', 'model'] as const;
export type Target = (typeof targets)[number];
export type Ports = Record<Target, number>;

/** A worker and its only cable. */
export interface WiredWorker {
  member: Member;
  wire: Wire;
}

export interface CutJob extends HitJob {
  kind: string;
}

type Harm = 'lost' | 'answers lost' | 'forgotten' | 'reset' | 'unplugged' | 'slow';

interface Cut {
  harm: Harm;
  /** Null: everything that the worker is connected to. */
  target: Target | null;
}

const cuts: readonly Cut[] = [
  ...(['lost', 'answers lost', 'forgotten', 'reset'] as const).flatMap((harm) =>
    targets.map((target) => ({ harm, target })),
  ),
  { harm: 'unplugged', target: null },
  { harm: 'slow', target: null },
];

/** A dead worker is noticed sooner than this: one that is cut off for longer is a zombie when it returns. */
const maxMs = 10_000;
/** A worker that has not continued after this time, over connections that a router dropped, hangs. */
export const maxSilenceMs = 120_000;
const patienceMs = 4_000;
const pollMs = 50;

export interface CutOptions {
  count: number;
  workers: WiredWorker[];
  ports: Ports;
  random: Random;
  run: JobRun;
  finder: HitFinder;
  /** When to cut: the forge is about to be changed, the model was called, or it has answered. */
  moments: Partial<Record<Target, readonly (() => Promise<void>)[]>>;
}

/**
 * Cuts one worker after another off from one thing or from all, each kind of cut as often as the others. The links to
 * what has its moments are cut then, for all workers: in the middle of a push, or between two calls of the model. Answers
 * which jobs were hit.
 */
export async function cutWires(options: CutOptions): Promise<CutJob[]> {
  const { count, random, run } = options;
  const hits: CutJob[] = [];
  let order: Cut[] = [];
  while (run.faults.length < count) {
    await delay(random.between(200, 1_500));
    if (order.length === 0) order = random.shuffled(cuts);
    hits.push(...(await cutOnce(order.pop()!, options)));
  }
  return hits;
}

async function cutOnce(cut: Cut, { workers, ports, random, run, finder, moments }: CutOptions): Promise<CutJob[]> {
  const lengthMs = random.between(500, maxMs);
  const own = cut.target === null ? undefined : moments[cut.target];
  const victims = own === undefined ? [random.pick(workers)] : workers;
  if (own !== undefined) await Promise.race([random.pick(own)(), delay(patienceMs)]);
  await delay(random.pick([0, 2, 5, 10, 20, 50]));
  const fault: Fault = { kind: 'halt', target: 'worker', pid: 0, atMs: Date.now(), backMs: null };
  run.faults.push(fault);
  await Promise.all(victims.map(({ wire }) => harm(wire, cut, ports)));
  const active = [...run.client.jobs.values()].filter(({ status }) => status === 'active').map(({ id }) => id);
  const found = await Promise.all(victims.map(({ member }) => finder.find(member.pid() ?? 0, active)));
  const ids = [...new Set(found.flat())];
  if (cut.harm === 'forgotten') await untilWentOn(run, ids);
  else if (cut.harm !== 'reset') await delay(lengthMs);
  await Promise.all(victims.map(({ wire }) => wire.heal()));
  fault.backMs = Date.now();
  const kind = cut.target === null ? cut.harm : `${cut.target} ${cut.harm}`;
  return ids.map((id) => ({ id, atMs: fault.atMs, kind }));
}

function harm(wire: Wire, cut: Cut, ports: Ports): Promise<void> {
  if (cut.target === null) return cut.harm === 'slow' ? wire.throttle() : wire.unplug();
  const port = ports[cut.target];
  if (cut.harm === 'forgotten') return wire.forget(port);
  return cut.harm === 'reset' ? wire.reset(port) : wire.lose(port, cut.harm === 'lost' ? 'both' : 'back');
}

/** Nothing recovers automatically: a dead connection has to be noticed. The first step may need none. */
async function untilWentOn({ client }: JobRun, ids: string[]): Promise<void> {
  const seen = () => [...client.jobs.values()].filter(({ id }) => ids.includes(id));
  const steps = new Map(seen().map(({ id, details }) => [id, details.steps]));
  const waits = ({ id, status, details }: ReturnType<typeof seen>[number]) =>
    status === 'active' && details.steps < (steps.get(id) ?? 0) + 2;
  const deadline = Date.now() + maxSilenceMs;
  while (seen().some(waits) && Date.now() < deadline) await delay(pollMs);
}
