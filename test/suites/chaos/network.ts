import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { sendSignal } from '../../../local/processes/process-identity.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { checkEnd } from './checks/check-end.ts';
import { repeatedCalls } from './checks/check-traffic.ts';
import { checkWire } from './checks/check-wire.ts';
import { createHitFinder, measurePauses, measureRecovery, percentile, type Recovery } from './hit-jobs.ts';
import { createJobClient } from './job-client.ts';
import { planJobs } from './plans/job-plans.ts';
import { runJobs, type JobRun } from './job-run.ts';
import { startLane } from './lane.ts';
import { cutWires, maxSilenceMs, type CutJob } from './servers/network-cuts.ts';
import { hasOwnNetwork, problemWithNetworks, runInOwnNetwork } from './servers/own-network.ts';
import { playPlans } from './plans/planned-model.ts';
import { createRandom } from './plans/random.ts';
import { printEnd, printTraffic } from './report.ts';
import { repositoryFiles, setGithubScene } from './scene.ts';
import { startServers } from './servers/servers.ts';
import { layWire, type Wire } from './wire.ts';

interface Options {
  cuts: number;
  jobs: number;
  workers: number;
  seed: number;
}

const pollMs = 10;

/** Cuts the workers' networks; if networks cannot be created, reports why and counts as failed. */
export async function runNetworkChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- network',
      about: 'Cuts the networks of workers while jobs run. Needs Linux with iproute2 and util-linux.',
      options: {
        cuts: wholeNumber().default(36).describe('how often to cut a network'),
        jobs: wholeNumber().optional().describe('jobs to run (default: as many as the cuts can hit)'),
        workers: wholeNumber().default(2).describe('workers at once'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { cuts, jobs = Math.ceil(cuts / 1.2), workers, seed } = options;
  if (hasOwnNetwork()) return cutNetworks({ cuts, jobs, workers, seed });
  const problem = await problemWithNetworks();
  if (problem === null) return runInOwnNetwork('network', args);
  console.log(problem);
  return 1;
}

/**
 * Each worker runs in its own network namespace, connected to the one in which the rest runs. A worker that is cut
 * off from Temporal may still reach the forge.
 */
async function cutNetworks({ cuts, jobs, workers: workerCount, seed }: Options): Promise<number> {
  console.log(`network: cuts: ${cuts}, jobs: ${jobs}, workers: ${workerCount}, seed: ${seed}`);
  const random = createRandom(seed);
  const files = repositoryFiles(0);
  const plans = planJobs({ count: jobs, repositories: [files], random: random.fork(1) });
  await using model = await startScriptedModelServer();
  await using github = await createFakeGithub();
  await using servers = await startServers();
  await appendFile(join(servers.postgresData, 'pg_hba.conf'), 'host all all 10.77.0.0/16 scram-sha-256\n');
  sendSignal(servers.postgres.pid() ?? 0, 'SIGHUP'); // reads it again
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    GITHUB_TOKEN: github.token,
    GITHUB_API_URL: github.apiUrl,
  };
  await using laid = new AsyncDisposableStack();
  const wires: Wire[] = [];
  while (wires.length < workerCount) wires.push(laid.use(await layWire(wires.length)));
  for (const wire of wires) await checkWire(wire, servers.postgresPort);
  await using lane = await startLane({
    servers,
    name: 'chaos',
    workers: workerCount,
    env,
    entries: { worker: 'test/suites/chaos/processes/http-git-worker.ts' },
    enterWorker: (index) => wires[index - 1]!.enter,
  });
  await using scene = await setGithubScene(lane, github, { origin: github.origin, files });
  const temporal = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
  await using finder = await createHitFinder(temporal);
  const { calls, nextCall, nextReply } = playPlans(model, plans);
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
  const moments = { forge: [nextWrite], model: [nextCall, nextReply] };
  const ports = {
    temporal: Number(servers.temporalAddress.split(':')[1]),
    postgres: servers.postgresPort,
    forge: Number(new URL(github.origin).port),
    model: Number(new URL(model.baseUrl).port),
  };
  const workers = wires.map((wire, index) => ({ wire, member: lane.workers[index]! }));
  const cutting = cutWires({ count: cuts, workers, ports, random: random.fork(2), run, finder, moments });
  const [hits] = await Promise.all([cutting, runJobs(run, pace)]);
  run.endedMs = Date.now();
  for (const plan of plans) if (client.jobs.has(plan.index)) await client.get(plan);
  const recoveries = await measureRecovery(scene.pool, hits);
  const pauses = await measurePauses(scene.pool);
  const repeated = repeatedCalls(calls).length;
  const violations = [
    ...model.violations.map((text) => `the model server: ${text}`),
    ...github.violations.map((text) => `the forge: ${text}`),
    ...(await checkEnd(run, scene, temporal)),
    ...pauses.filter(({ ms }) => ms > maxSilenceMs).map(({ id, ms }) => `${id} stood still for ${seconds(ms)} s`),
    ...(repeated > cuts ? [`the model was asked ${repeated} times again after ${cuts} cuts`] : []),
  ];
  printTraffic(run);
  printRecoveries(recoveries);
  const longest = seconds(Math.max(...pauses.map(({ ms }) => ms)));
  console.log(`longest standstill of a job: ${longest} s (aim: at most ${seconds(maxSilenceMs)} s)`);
  return printEnd(violations, seed);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function printRecoveries(recoveries: (CutJob & Recovery)[]): void {
  console.log('from the cut to the next useful step of a job that the worker was at; cuts last up to 10 s:');
  const kinds = Map.groupBy(recoveries, ({ kind }) => kind);
  for (const [kind, own] of [...kinds].toSorted().concat([['all', recoveries]])) {
    const times = own.map(({ tookMs }) => tookMs);
    const [p50, p90, max] = [0.5, 0.9, 1].map((share) => seconds(percentile(times, share)));
    console.log(
      `  ${kind.padEnd(22)} ${String(own.length).padStart(3)} jobs: p50 ${p50} s, p90 ${p90} s, max ${max} s`,
    );
  }
}
