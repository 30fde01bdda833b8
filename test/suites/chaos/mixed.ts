import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { createPool } from '../../../db/pool.ts';
import { createProjectReader } from '../../../db/for-worker/projects/projects.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { TestStack } from '../../support/stack/stack.ts';
import { checkEnd } from './checks/check-end.ts';
import { causeFaults } from './faults.ts';
import { createJobClient } from './job-client.ts';
import { planJobs, plannedCalls } from './plans/job-plans.ts';
import { atRandom, runJobs, type JobRun } from './job-run.ts';
import { playPlans } from './plans/planned-model.ts';
import { onPlannedStack } from './plans/planned-stack.ts';
import { createRandom } from './plans/random.ts';
import { printReport } from './report.ts';
import { repositoryFiles, setScene } from './scene.ts';

interface Options {
  jobs: number;
  kills: number;
  halts: number;
  seed: number;
}

const repositoryCount = 2;

/**
 * Runs jobs on a stack of real processes that are killed (`--kills`) and suspended (`--halts`) meanwhile, then compares
 * the result with the plan. The same `--seed` repeats the same plan. Returns the number of violations.
 */
export function runMixedChaos(args: string[]): Promise<number> {
  const options = readOptions(args);
  const { jobs, kills, halts, seed } = options;
  console.log(`mixed: jobs: ${jobs}, kills: ${kills}, halts: ${halts}, seed: ${seed}`);
  return onPlannedStack({
    env: {
      DOCKET_JOBS_PER_HOUR: '1000000',
      DOCKET_ORGANIZATION_JOBS_PER_HOUR: '1000000',
      DOCKET_MAX_ACTIVE_JOBS: '1000000',
    },
    seed,
    run: (stack, model) => runOn(stack, model, options),
  });
}

function readOptions(args: string[]): Options {
  const { options } = readTool(
    {
      command: 'npm run chaos -- mixed',
      about: 'Kills and suspends every process of npm start while jobs run.',
      options: {
        jobs: wholeNumber().default(10).describe('jobs to run'),
        kills: wholeNumber().default(5).describe('processes to kill'),
        halts: wholeNumber().optional().describe('processes to suspend (default: a fifth of the kills)'),
        seed: seedOption(),
      },
    },
    args,
  );
  return { ...options, halts: options.halts ?? Math.floor(options.kills / 5) };
}

async function organizationOf({ localJson }: TestStack): Promise<string> {
  const pool = createPool({ url: localJson.databaseUrl, maxConnections: 1, applicationName: 'chaos' });
  try {
    return (await createProjectReader(pool).get(localJson.projectId))!.organizationId;
  } finally {
    await pool.end();
  }
}

async function runOn(stack: TestStack, model: ScriptedModelServer, options: Options): Promise<string[]> {
  const { baseUrl, adminKey, temporalAddress } = stack.localJson;
  const random = createRandom(options.seed);
  const repositories = Array.from({ length: repositoryCount }, (_, index) => repositoryFiles(index));
  const plans = planJobs({ count: options.jobs, repositories, random: random.fork(1) });
  await using scene = await setScene(
    { ...stack.localJson, home: stack.home, organizationId: await organizationOf(stack) },
    repositories,
  );
  const projects = scene.repositories.map(({ projectId }) => projectId);
  const { calls, nextReply } = playPlans(model, plans);
  const run: JobRun = {
    startedMs: Date.now(),
    endedMs: 0,
    plans,
    calls,
    faults: [],
    client: createJobClient({ baseUrl, adminKey, projects, run: `chaos-${options.seed}` }),
  };
  const faults = causeFaults({
    stack,
    random: random.fork(2),
    kills: options.kills,
    halts: options.halts,
    progress: () => calls.length / plannedCalls(plans),
    nextReply,
    onFault: (fault) => run.faults.push(fault),
  });
  await Promise.all([runJobs(run, atRandom(random.fork(3))), faults]);
  run.endedMs = Date.now();
  for (const plan of plans) if (run.client.jobs.has(plan.index)) await run.client.get(plan);
  printReport(run);
  return [
    ...model.violations.map((text) => `the model server: ${text}`),
    ...(await checkEnd(run, scene, { temporalAddress })),
  ];
}
