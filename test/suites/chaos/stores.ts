import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { checkEnd } from './checks/check-end.ts';
import type { Fault } from './faults.ts';
import { createJobClient } from './job-client.ts';
import { planJobs, planTwoTurns } from './plans/job-plans.ts';
import { runJobs, type JobRun } from './job-run.ts';
import { startLane } from './lane.ts';
import type { Member } from './servers/members.ts';
import { playPlans } from './plans/planned-model.ts';
import { createRandom, type Random } from './plans/random.ts';
import { printEnd, printTraffic } from './report.ts';
import { repositoryFiles, setScene } from './scene.ts';
import { startServers } from './servers/servers.ts';

const pollMs = 10;
const jobsPerKill = 0.6;

/**
 * Kills PostgreSQL and Temporal under load. Nothing that the API acknowledged is lost. While PostgreSQL is down, it
 * answers only 503; while Temporal is down, it still creates and shows jobs.
 */
export async function runStoresChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- stores',
      about: 'Kills PostgreSQL and Temporal under load.',
      options: {
        kills: wholeNumber().default(50).describe('kills of PostgreSQL, and as many of Temporal'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { kills, seed } = options;
  console.log(`stores: kills of PostgreSQL: ${kills}, of Temporal: ${kills}, seed: ${seed}`);
  const random = createRandom(seed);
  const files = [0, 1].map(repositoryFiles);
  const count = Math.ceil(2 * kills * jobsPerKill);
  // every third job has a second turn, so that messages are acknowledged, too
  const plans = planJobs({ count, repositories: files, random: random.fork(1) }).map((plan, index) =>
    index % 3 === 0 ? planTwoTurns({ index, repository: 0, files: files[0]!, random: random.fork(100 + index) }) : plan,
  );
  await using model = await startScriptedModelServer();
  await using servers = await startServers();
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
  };
  await using lane = await startLane({ servers, name: 'chaos', env });
  await using scene = await setScene(lane, files);
  const { calls } = playPlans(model, plans);
  const projects = scene.repositories.map(({ projectId }) => projectId);
  const client = createJobClient({ ...lane, projects, run: `chaos-${seed}` });
  const run: JobRun = { startedMs: Date.now(), endedMs: 0, plans, calls, faults: [], client };
  const pace = async (index: number) => {
    while (run.faults.length < Math.floor(index / jobsPerKill) - 3) await delay(pollMs);
  };
  const victims = random.shuffled([
    ...Array<Member>(kills).fill(servers.postgres),
    ...Array<Member>(kills).fill(servers.temporal),
  ]);
  await Promise.all([
    runJobs(run, pace),
    killStores({ victims, random: random.fork(2), run, postgres: servers.postgres }),
  ]);
  run.endedMs = Date.now();
  for (const plan of plans) if (client.jobs.has(plan.index)) await client.get(plan);
  const temporal = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
  const violations = [
    ...model.violations.map((text) => `the model server: ${text}`),
    ...(await checkEnd(run, scene, temporal)),
  ];
  printTraffic(run);
  printOutages(run);
  return printEnd(violations, seed);
}

interface StoreKills {
  victims: Member[];
  postgres: Member;
  random: Random;
  run: JobRun;
}

async function killStores({ victims, postgres, random, run }: StoreKills): Promise<void> {
  for (const victim of victims) {
    await delay(random.between(200, 2_500));
    let killed = victim.kill();
    while (killed === null) {
      await delay(pollMs);
      killed = victim.kill();
    }
    const target = victim === postgres ? 'postgres' : 'temporal';
    const fault: Fault = { kind: 'kill', target, pid: killed.pid, atMs: Date.now(), backMs: null };
    run.faults.push(fault);
    await killed.back;
    fault.backMs = Date.now();
  }
}

/** The responses that clients received while each store was down. */
function printOutages({ faults, client }: JobRun): void {
  for (const target of ['postgres', 'temporal'] as const) {
    const outages = faults.filter((fault) => fault.target === target);
    const during = client.exchanges.filter(({ fromMs, toMs }) =>
      outages.some(({ atMs, backMs }) => atMs <= toMs && fromMs <= (backMs ?? Number.POSITIVE_INFINITY)),
    );
    const answers = Map.groupBy(during, ({ what, status }) => `${what} ${status ?? 'without an answer'}`);
    const away = outages.reduce((sum, { atMs, backMs }) => sum + (backMs ?? atMs) - atMs, 0) / 1000;
    const told = [...answers].map(([name, { length }]) => `${name}: ${length}`).sort();
    console.log(
      `${target.padEnd(8)} away ${outages.length} times, ${away.toFixed(1)} s in all; meanwhile ${told.join(', ')}`,
    );
  }
}
