import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../../lib/inputs/tool-arguments.ts';
import { mountSmallDisk, type SmallDisk } from '../../../support/sandbox/small-disk.ts';
import { checkStores } from '../checks/check-end.ts';
import { runCourse, type Course } from '../course.ts';
import { planJobs, type JobPlan } from '../plans/job-plans.ts';
import { createRandom, type Random } from '../plans/random.ts';
import { printEnd, printTraffic } from '../report.ts';
import { repositoryFiles } from '../scene.ts';
import { startServers } from './servers.ts';

const megabytes = 48;
/** The worker gives up after this many failures in a row; until then a job waits for space. */
const category = 'tool_failure';

/** Fills the disk of a worker repeatedly: a job ends as planned, or fails for lack of space with nothing published. */
export async function runDiskChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- disk',
      about: 'Fills the disk of a worker repeatedly. Only root on Linux can run it.',
      options: {
        jobs: wholeNumber().default(20).describe('jobs to run'),
        fills: wholeNumber().default(12).describe('how often to fill the disk'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { jobs, fills, seed } = options;
  console.log(`disk: jobs: ${jobs}, times full: ${fills}, seed: ${seed}`);
  await using disk = await mountSmallDisk(megabytes);
  if (disk === null) {
    console.log('skipped: a small disk can only be mounted by root on Linux.');
    return 0;
  }
  await using servers = await startServers();
  const random = createRandom(seed);
  const plans = planJobs({ count: jobs, repositories: [repositoryFiles(0)], random: random.fork(1) });
  const lane = { name: 'disk', workerEnv: { DOCKET_WORK_DIR: join(disk.directory, 'work') } };
  const full: string[] = [];
  const { run, violations } = await runCourse({
    servers,
    seed,
    plans,
    lane,
    disturb: (course) => fill(course, disk, fills, random.fork(2)),
    async check({ run, scene }, temporal) {
      const kept: JobPlan[] = [];
      for (const plan of run.plans) {
        const seen = run.client.jobs.get(plan.index);
        const isFull = seen?.status === 'failed' && seen.details.failure?.category === category;
        if (!isFull) kept.push(plan);
        else full.push(seen.id);
      }
      const found = await checkStores({ ...run, plans: kept }, scene, temporal);
      // the rows of the jobs without space exist, too
      const rows = `there are ${run.plans.length} rows of jobs and not ${kept.length}`;
      return full.length === 0 ? found : found.filter((text) => text !== rows);
    },
  });
  printTraffic(run);
  console.log(`disk     ${full.length} of ${jobs} jobs failed for want of room, with no branch and no pull request`);
  return printEnd(violations, seed);
}

async function fill({ run }: Course, disk: SmallDisk, fills: number, random: Random): Promise<void> {
  for (let index = 0; index < fills; index += 1) {
    await delay(random.between(300, 1_500));
    await disk.fill();
    run.faults.push({ kind: 'halt', target: 'worker', pid: 0, atMs: Date.now(), backMs: null });
    await delay(random.between(200, 2_000));
    await disk.empty();
    Object.assign(run.faults.at(-1)!, { backMs: Date.now() });
  }
}
