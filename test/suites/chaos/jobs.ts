import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { checkEnd } from './checks/check-end.ts';
import { checkSpecial, countSetups, startPlannedServer } from './checks/check-special.ts';
import { checkRepeats, repeatedCalls } from './checks/check-traffic.ts';
import type { Fault } from './faults.ts';
import { createHitFinder, measureRecovery, percentile, type HitFinder, type HitJob } from './hit-jobs.ts';
import { createJobClient } from './job-client.ts';
import { planJobs } from './plans/job-plans.ts';
import { runJobs, type JobRun } from './job-run.ts';
import { startLane, type Lane } from './lane.ts';
import { playPlans } from './plans/planned-model.ts';
import { createRandom, type Random } from './plans/random.ts';
import { printEnd, printTraffic } from './report.ts';
import { repositoryFiles, setScene } from './scene.ts';
import { startServers, type StartTemporal } from './servers/servers.ts';
import { describeRecoveries } from './slow-hits.ts';

export interface JobsOptions {
  jobs: number;
  kills: number;
  workers: number;
  /** Average time between kills. A starting worker slows down the others, so this is part of the harm. */
  gapMs: number;
  seed: number;
}

const pollMs = 10;
const replyPatienceMs = 1_000;
/** How many of the slowest recoveries the report describes. */
const shownRecoveries = 5;

/**
 * Runs jobs on workers that are killed one after another, more than half of the times just after a reply of the model.
 * Prints how soon the affected jobs continued.
 */
export function runJobsChaos(args: string[]): Promise<number> {
  const about = 'Kills workers while jobs edit, run setups, call an MCP server and wait for people.';
  const defaults = { jobs: 100, kills: 200, workers: 3, gapMs: 1_500 };
  return runWorkerKills('jobs', readJobsOptions(args, { suite: 'jobs', about, defaults }));
}

interface JobsSuite {
  suite: string;
  about: string;
  defaults: Omit<JobsOptions, 'seed'>;
}

export function readJobsOptions(args: string[], { suite, about, defaults }: JobsSuite): JobsOptions {
  const { options } = readTool(
    {
      command: `npm run chaos -- ${suite}`,
      about,
      options: {
        jobs: wholeNumber().default(defaults.jobs).describe('jobs to run'),
        kills: wholeNumber().default(defaults.kills).describe('workers to kill'),
        workers: wholeNumber().default(defaults.workers).describe('workers at once'),
        gap: wholeNumber().default(defaults.gapMs).describe('average time between kills, in milliseconds'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { gap: gapMs, ...others } = options;
  return { ...others, gapMs };
}

export async function runWorkerKills(
  name: string,
  options: JobsOptions,
  startTemporalServer?: StartTemporal,
): Promise<number> {
  const { jobs, kills, workers, gapMs, seed } = options;
  console.log(`${name}: jobs: ${jobs}, kills: ${kills}, workers: ${workers}, gap: ${gapMs} ms, seed: ${seed}`);
  const random = createRandom(seed);
  const repositories = [0, 1].map(repositoryFiles);
  const plans = planJobs({ count: jobs, repositories, random: random.fork(1), hasSpecial: true });
  await using tools = await startPlannedServer();
  await using model = await startScriptedModelServer();
  await using servers = await startServers({ startTemporalServer });
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    DOCKET_PRIVATE_HOSTS: tools.host,
  };
  await using lane = await startLane({ servers, name: 'chaos', workers, env });
  await using scene = await setScene(lane, repositories, { url: tools.url, command: null });
  const temporal = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
  await using finder = await createHitFinder(temporal);
  const { calls, nextReply } = playPlans(model, plans);
  const projects = scene.repositories.map(({ projectId }) => projectId);
  const client = createJobClient({ ...lane, projects, run: `chaos-${seed}` });
  const run: JobRun = { startedMs: Date.now(), endedMs: 0, plans, calls, faults: [], client };
  const hits: HitJob[] = [];
  // jobs arrive at the pace of the kills, so that there is work until the last one
  const pace = async (index: number) => {
    while (run.faults.length < Math.floor((index * kills) / jobs) - 2) await delay(pollMs);
  };
  await Promise.all([
    runJobs(run, pace),
    killWorkers({ kills, gapMs, lane, random: random.fork(2), run, hits, finder, nextReply }),
  ]);
  run.endedMs = Date.now();
  for (const plan of plans) if (client.jobs.has(plan.index)) await client.get(plan);
  const violations = [
    ...model.violations.map((text) => `the model server: ${text}`),
    ...(await checkEnd(run, scene, temporal)),
    ...(await checkSpecial(scene.pool, run, tools)),
  ];
  const repeated = repeatedCalls(calls);
  const hitsOf = (index: number) => hits.filter(({ id }) => id === client.jobs.get(index)?.id);
  violations.push(...checkRepeats(repeated, hitsOf));
  printTraffic(run);
  console.log(`         ${hits.length} times a kill hit a job (aim: at most one call again for each)`);
  const { started, finished, skipped } = await countSetups(scene.pool);
  console.log(
    `setups   ${started} started, ${finished} finished, ${skipped} skipped; ${tools.calls.length} calls of the MCP server`,
  );
  const recoveries = await measureRecovery(scene.pool, hits);
  printRecovery(
    recoveries.map(({ tookMs }) => tookMs),
    run,
  );
  const slowest = recoveries.toSorted((a, b) => b.tookMs - a.tookMs).slice(0, shownRecoveries);
  for (const line of await describeRecoveries(temporal, slowest)) console.log(`         ${line}`);
  return printEnd(violations, seed);
}

interface Kills {
  kills: number;
  gapMs: number;
  lane: Lane;
  random: Random;
  run: JobRun;
  hits: HitJob[];
  finder: HitFinder;
  nextReply(): Promise<void>;
}

async function killWorkers({ kills, gapMs, lane, random, run, hits, finder, nextReply }: Kills): Promise<void> {
  const recoveries: Promise<void>[] = [];
  const ready = new Set(lane.workers);
  while (run.faults.length < kills) {
    await delay(random.between(0.2 * gapMs, 1.8 * gapMs));
    if (random.next() < 0.6) await Promise.race([nextReply(), delay(replyPatienceMs)]);
    await delay(random.pick([0, 5, 10, 20, 50, 100, 300]) * random.next());
    while (ready.size === 0) await delay(pollMs);
    const victim = random.pick([...ready]);
    const pid = victim.pid();
    if (pid === null) continue;
    // it is suspended while Temporal is asked what it was doing
    victim.pause();
    const active = [...run.client.jobs.values()].filter(({ status }) => status === 'active').map(({ id }) => id);
    const hit = await finder.find(pid, active);
    const killed = victim.kill();
    if (killed === null) continue;
    const fault: Fault = { kind: 'kill', target: 'worker', pid, atMs: Date.now(), backMs: null };
    run.faults.push(fault);
    // tasks that Temporal gave it while it was suspended are lost with it
    const givenLast = await finder.findActive(pid, active);
    hits.push(...[...new Set([...hit, ...givenLast])].map((id) => ({ id, atMs: fault.atMs })));
    ready.delete(victim);
    recoveries.push(
      killed.back.then(() => {
        fault.backMs = Date.now();
        ready.add(victim);
      }),
    );
  }
  await Promise.all(recoveries);
}

function printRecovery(times: number[], { faults }: JobRun): void {
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1].map((share) => seconds(percentile(times, share)));
  const boots = faults.map(({ atMs, backMs }) => (backMs ?? Number.NaN) - atMs);
  console.log(
    `worker   back after ${seconds(percentile(boots, 0.5))} s (p50), ${seconds(percentile(boots, 0.99))} s (p99)`,
  );
  console.log(`recovery from kill to next useful step of ${times.length} jobs that were hit:`);
  console.log(`         p50 ${p50} s, p90 ${p90} s, p99 ${p99} s, max ${max} s (aim: p99 at most 5 s)`);
}
