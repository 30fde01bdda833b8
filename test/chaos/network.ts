import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createFakeGithub } from '../support/forges/fake-github.ts';
import { startScriptedModelServer } from '../support/scripted-model-server.ts';
import { checkEnd } from './check-end.ts';
import type { Fault } from './faults.ts';
import { createJobClient } from './job-client.ts';
import { planJobs } from './job-plans.ts';
import { runJobs, type JobRun } from './job-run.ts';
import { startLane } from './lane.ts';
import { openLink, type Link } from './link.ts';
import { playPlans } from './planned-model.ts';
import { createRandom, type Random } from './random.ts';
import { printEnd, printTraffic } from './report.ts';
import { repositoryFiles, setGithubScene } from './scene.ts';
import { startServers } from './servers.ts';

type LinkName = 'temporal' | 'postgres' | 'forge';

/** A dead worker is noticed within this time: one that is cut off for longer is a zombie when it comes back. */
const longestMs = 10_000;
const pollMs = 10;
const writePatienceMs = 4_000;

/**
 * Cuts and freezes the links of one of two workers to Temporal and to PostgreSQL, and those of both to the forge in the
 * middle of a push or of a request. A worker that is cut off from Temporal goes on reaching the forge meanwhile.
 */
export async function runNetworkChaos(args: string[]): Promise<number> {
  const option = { type: 'string' } as const;
  const { values } = parseArgs({ args, options: { cuts: option, jobs: option, seed: option } });
  const cuts = Number(values.cuts ?? 45);
  const jobs = Number(values.jobs ?? Math.ceil(cuts / 1.5));
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e6));
  console.log(`network: cuts: ${cuts}, jobs: ${jobs}, seed: ${seed}`);
  const random = createRandom(seed);
  const files = repositoryFiles(0);
  const plans = planJobs({ count: jobs, repositories: [files], random: random.fork(1) });
  await using model = await startScriptedModelServer();
  await using github = await createFakeGithub();
  await using servers = await startServers();
  await using forge = await openLink(portOf(github.origin));
  await using temporal = await openLink(Number(servers.temporalAddress.split(':')[1]));
  await using postgres = await openLink(servers.postgresPort);
  const origin = `http://127.0.0.1:${forge.port}`;
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    GITHUB_TOKEN: github.token,
    GITHUB_API_URL: `${origin}/api/v3`,
  };
  await using lane = await startLane({
    servers,
    name: 'chaos',
    workers: 2,
    env,
    entries: { worker: 'test/chaos/processes/http-git-worker.ts' },
    workerEnv: (worker, databaseUrl) =>
      worker.endsWith('-1')
        ? { TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`, DATABASE_URL: through(databaseUrl, postgres) }
        : {},
  });
  await using scene = await setGithubScene(lane, github, { origin, files });
  const { calls } = playPlans(model, plans);
  const projects = scene.repositories.map(({ projectId }) => projectId);
  const client = createJobClient({ ...lane, projects, run: `chaos-${seed}` });
  const run: JobRun = { startedMs: Date.now(), endedMs: 0, plans, calls, faults: [], client };
  const pace = async (index: number) => {
    while (run.faults.length < Math.floor((index * cuts) / jobs) - 3) await delay(pollMs);
  };
  const nextWrite = () =>
    new Promise<void>((resolve) => {
      github.onRequest = ({ operation }) => {
        if (operation === 'git-write' || operation === 'create') resolve();
      };
    });
  const links = { temporal, postgres, forge };
  const told = new Map<string, number>();
  await Promise.all([runJobs(run, pace), cutLinks({ cuts, links, random: random.fork(2), run, nextWrite, told })]);
  run.endedMs = Date.now();
  for (const plan of plans) if (client.jobs.has(plan.index)) await client.get(plan);
  const engine = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
  const violations = [
    ...model.violations.map((text) => `the model server: ${text}`),
    ...github.violations.map((text) => `the forge: ${text}`),
    ...(await checkEnd(run, scene, engine)),
  ];
  printTraffic(run);
  console.log(`links    ${[...told].map(([name, count]) => `${name}: ${count}`).join(', ')}`);
  return printEnd(violations, seed);
}

interface Cuts {
  cuts: number;
  links: Record<LinkName, Link>;
  random: Random;
  run: JobRun;
  nextWrite(): Promise<void>;
  told: Map<string, number>;
}

async function cutLinks({ cuts, links, random, run, nextWrite, told }: Cuts): Promise<void> {
  const names = Array.from({ length: cuts }, (_, index) => (['temporal', 'forge', 'postgres'] as const)[index % 3]!);
  for (const name of random.shuffled(names)) {
    await delay(random.between(200, 1_500));
    if (name === 'forge') await Promise.race([nextWrite(), delay(writePatienceMs)]);
    await delay(random.pick([0, 2, 5, 10, 20, 50]));
    const isFrozen = random.next() < 0.5;
    const fault: Fault = { kind: 'halt', target: 'worker', pid: 0, atMs: Date.now(), backMs: null };
    run.faults.push(fault);
    if (isFrozen) links[name].freeze();
    else links[name].cut();
    // a forge that is away for long ends a job, rightly
    await delay(name === 'forge' ? random.between(200, 2_500) : random.between(500, longestMs));
    links[name].heal();
    fault.backMs = Date.now();
    const kind = `${name} ${isFrozen ? 'frozen' : 'cut'}`;
    told.set(kind, (told.get(kind) ?? 0) + 1);
  }
}

function through(databaseUrl: string, { port }: Link): string {
  const address = new URL(databaseUrl);
  address.port = String(port);
  return address.href;
}

function portOf(origin: string): number {
  return Number(new URL(origin).port);
}
