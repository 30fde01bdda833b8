import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './faults.ts';
import type { JobClient } from './job-client.ts';
import type { JobPlan } from './job-plans.ts';
import type { ModelCall } from './planned-model.ts';
import type { Random } from './random.ts';

/** What happened, for the checks and the report. */
export interface JobRun {
  startedMs: number;
  endedMs: number;
  plans: JobPlan[];
  calls: ModelCall[];
  faults: Fault[];
  client: JobClient;
}

/** A run in which nothing happens for this long stands still for good. */
const standstillMs = 240_000;
const longestGapMs = 1_000;

/** Creates the jobs one after another and polls each until it has ended, or the run stands still. */
export async function runJobs({ plans, calls, faults, client }: JobRun, random: Random): Promise<void> {
  let createdMs = Date.now();
  const standsStill = () =>
    Date.now() - Math.max(createdMs, calls.at(-1)?.atMs ?? 0, faults.at(-1)?.atMs ?? 0) > standstillMs;
  const followed: Promise<void>[] = [];
  for (const plan of plans) {
    await delay(random.between(0, longestGapMs));
    await client.create(plan);
    createdMs = Date.now();
    followed.push(client.follow(plan, standsStill));
  }
  await Promise.all(followed);
}
