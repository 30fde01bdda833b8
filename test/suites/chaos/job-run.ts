import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import type { JobClient } from './job-client.ts';
import type { JobPlan } from './plans/job-plans.ts';
import type { ModelCall } from './plans/planned-model.ts';
import type { Random } from './plans/random.ts';

/** Outcome of the run, for the checks and the report. */
export interface JobRun {
  startedMs: number;
  endedMs: number;
  plans: JobPlan[];
  calls: ModelCall[];
  faults: Fault[];
  client: JobClient;
  /** Jobs with one request from a process that was suspended after its last check. */
  sentLate?: Set<number>;
}

/** A run without any event for this long is stuck. */
const standstillMs = 240_000;
const maxGapMs = 1_000;

/** Resolves when the job of a plan may be created. */
export type Pace = (index: number) => Promise<void>;

/** One job after another, with a short delay between them. */
export function atRandom(random: Random): Pace {
  return () => delay(random.between(0, maxGapMs));
}

/** Creates the jobs in turn and polls each until its last turn has ended, or the run is stuck. */
export async function runJobs({ plans, calls, faults, client }: JobRun, pace: Pace): Promise<void> {
  let createdMs = Date.now();
  const standsStill = () =>
    Date.now() - Math.max(createdMs, calls.at(-1)?.atMs ?? 0, faults.at(-1)?.atMs ?? 0) > standstillMs;
  const followTurns = async (plan: JobPlan) => {
    await client.follow(plan, standsStill);
    for (let turn = 2; turn <= plan.turns.length && !standsStill(); turn += 1) {
      await client.goOn(plan, turn);
      await client.follow(plan, standsStill);
    }
  };
  const followed: Promise<void>[] = [];
  for (const [index, plan] of plans.entries()) {
    await pace(index);
    await client.create(plan);
    createdMs = Date.now();
    followed.push(followTurns(plan));
  }
  await Promise.all(followed);
}
