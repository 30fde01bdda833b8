import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../../lib/inputs/tool-arguments.ts';
import { runCourse, type Course } from '../course.ts';
import type { Fault } from '../faults.ts';
import { planJobs } from '../plans/job-plans.ts';
import { createRandom, type Random } from '../plans/random.ts';
import { printEnd, printTraffic } from '../report.ts';
import { repositoryFiles } from '../scene.ts';
import { startServers } from './servers.ts';

const twoDaysMs = 2 * 86_400_000;
const preload = pathToFileURL(join(import.meta.dirname, '../processes/shift-clock.ts')).href;
const pollMs = 10;

/** Jobs on a worker, and behind an API, whose clock is two days ahead or behind; the worker is killed meanwhile. */
export async function runClockChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- clock',
      about: 'Sets the clock of the worker or the API two days off and kills the worker.',
      options: {
        jobs: wholeNumber().default(10).describe('jobs to run for each of four clocks'),
        kills: wholeNumber().default(4).describe('workers to kill for each of them'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { jobs, kills, seed } = options;
  console.log(`clock: jobs: ${jobs}, kills: ${kills} for each of four clocks, seed: ${seed}`);
  await using servers = await startServers();
  const violations: string[] = [];
  for (const [name, side, shiftMs] of [
    ['worker_ahead', 'worker', twoDaysMs],
    ['worker_behind', 'worker', -twoDaysMs],
    ['api_ahead', 'api', twoDaysMs],
    ['api_behind', 'api', -twoDaysMs],
  ] as const) {
    const random = createRandom(seed);
    const plans = planJobs({ count: jobs, repositories: [repositoryFiles(0)], random: random.fork(1) });
    const wrong = { CHAOS_CLOCK_SHIFT_MS: String(shiftMs) };
    const lane = {
      name,
      nodeArgs: ['--import', preload],
      ...(side === 'api' ? { apiEnv: wrong } : { workerEnv: wrong }),
    };
    const disturb = (course: Course) => killWorker(course, kills, random.fork(2));
    const { run, violations: found } = await runCourse({ servers, seed, plans, lane, disturb });
    violations.push(...found);
    console.log(`${name}:`);
    printTraffic(run);
  }
  return printEnd(violations, seed);
}

async function killWorker({ lane, run }: Course, kills: number, random: Random): Promise<void> {
  const [worker] = lane.workers;
  while (run.faults.length < kills) {
    await delay(random.between(500, 2_500));
    const killed = worker!.kill();
    if (killed === null) {
      await delay(pollMs);
      continue;
    }
    const fault: Fault = { kind: 'kill', target: 'worker', pid: killed.pid, atMs: Date.now(), backMs: null };
    run.faults.push(fault);
    await killed.back;
    fault.backMs = Date.now();
  }
}
