import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { machineArchive, packMachineImage } from '../../support/sandbox/machine-image.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { checkEnd } from './checks/check-end.ts';
import { checkSpecial, countSetups } from './checks/check-special.ts';
import type { Fault } from './faults.ts';
import { createJobClient } from './job-client.ts';
import { readJobsOptions, type JobsOptions } from './jobs.ts';
import { runJobs, type JobRun } from './job-run.ts';
import { hasUnpacked, startLane, type Lane } from './lane.ts';
import { startPlannedCommand, type PlannedCommand } from './planned-command.ts';
import { playPlans } from './plans/planned-model.ts';
import { createRandom, type Random } from './plans/random.ts';
import { printEnd, printTraffic } from './report.ts';
import { repositoryFiles, setScene } from './scene.ts';
import { startServers } from './servers/servers.ts';
import { planSpecial, type SpecialKind } from './plans/special-plans.ts';

const kinds: readonly SpecialKind[] = ['tools', 'plan', 'question'];
const pollMs = 50;
const patienceMs = 60_000;

/**
 * Runs jobs that call an MCP server that runs as a command, and wait for approvals and answers, on workers that are
 * killed while the server runs. No process of it and no folder may be left, and no call may be sent twice.
 */
export async function runToolsChaos(args: string[], { isInImage = false } = {}): Promise<number> {
  const name = isInImage ? 'image' : 'tools';
  const options = readJobsOptions(args, {
    suite: name,
    about: `Kills workers while an MCP server runs as a command${isInImage ? ', with every command and setup in an image' : ''}.`,
    defaults: { jobs: 30, kills: 40, workers: 2, gapMs: 1_500 },
  });
  const { jobs, kills, workers, gapMs, seed } = options;
  console.log(`${name}: jobs: ${jobs}, kills: ${kills}, workers: ${workers}, gap: ${gapMs} ms, seed: ${seed}`);
  const random = createRandom(seed);
  // a setup in the image is one of its commands, too
  const ownKinds: readonly SpecialKind[] = isInImage ? [...kinds, 'setup'] : kinds;
  const files = repositoryFiles(0);
  const plans = Array.from({ length: jobs }, (_, index) =>
    planSpecial({
      index,
      kind: ownKinds[index % ownKinds.length]!,
      repository: 0,
      files,
      random: random.fork(index),
      hasTools: true,
    }),
  );
  const violations: string[] = [];
  await using server = await startPlannedCommand();
  await using model = await startScriptedModelServer();
  await using servers = await startServers();
  const archives = join(servers.home, 'archives');
  await mkdir(archives);
  if (isInImage && !(await packMachineImage(archives))) return 1;
  const { calls } = playPlans(model, plans);
  {
    await using lane = await startLane({
      servers,
      name,
      workers,
      env: {
        OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
        DOCKET_SELF_REVIEW: 'off',
        OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
        DOCKET_PRIVATE_HOSTS: server.host,
        DOCKET_RUN_HOSTS: server.host,
        ...(isInImage && { DOCKET_IMAGE: `oci-archive:${machineArchive}`, DOCKET_IMAGE_DIRECTORY: archives }),
      },
    });
    await using scene = await setScene(lane, [files], { url: null, command: server.command });
    const temporal = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
    const projects = scene.repositories.map(({ projectId }) => projectId);
    const client = createJobClient({ ...lane, projects, run: `${name}-${seed}` });
    const run: JobRun = { startedMs: Date.now(), endedMs: 0, plans, calls, faults: [], client };
    // jobs arrive at the pace of the kills, so that there is work until the last one
    const pace = async (index: number) => {
      while (run.faults.length < Math.floor((index * kills) / jobs) - 2) await delay(pollMs);
    };
    const over = new AbortController();
    const ending = runJobs(run, pace).finally(() => over.abort());
    const hits = await killWorkers({ ...options, lane, random: random.fork(jobs), run, server, violations, over });
    await ending;
    run.endedMs = Date.now();
    for (const plan of plans) if (client.jobs.has(plan.index)) await client.get(plan);
    violations.push(
      ...(await checkEnd(run, scene, temporal)),
      ...(await checkSpecial(scene.pool, run, { calls: server.calls() })),
    );
    printTraffic(run);
    console.log(`server   killed ${hits} times while it ran; ${server.calls().length} calls sent`);
    if (hits === 0) violations.push('no worker was killed while the server ran');
    if (isInImage) {
      const { started, finished, skipped } = await countSetups(scene.pool);
      console.log(`setups   ${started} started, ${finished} finished, ${skipped} skipped`);
      // one whose worker is killed before it reports the end is skipped, with what it installed, by the next attempt
      if (jobs >= ownKinds.length && finished + skipped === 0) violations.push('no setup has finished in the image');
    }
    if (isInImage && !(await hasUnpacked(lane))) violations.push('no worker has unpacked the image');
  }
  violations.push(
    ...model.violations.map((text) => `the model server: ${text}`),
    ...(await server.leftRunning()).map((pid) => `left running: a process of the server (${pid})`),
    ...(await readdir(servers.temporary)).map((name) => `left on the disk: ${name}`),
  );
  return printEnd(violations, seed);
}

interface Kills extends JobsOptions {
  lane: Lane;
  random: Random;
  run: JobRun;
  server: PlannedCommand;
  violations: string[];
  /** Aborts when all jobs have ended. */
  over: AbortController;
}

/** Kills workers while the server runs below them. Returns how often it did. */
async function killWorkers({
  kills,
  gapMs,
  lane,
  random,
  run,
  server,
  violations,
  over: { signal },
}: Kills): Promise<number> {
  let hits = 0;
  while (run.faults.length < kills && !signal.aborted) {
    await delay(random.between(0.2 * gapMs, 1.8 * gapMs));
    const found = await untilRunning(server, lane, signal);
    await delay(random.between(0, 500));
    const worker = found?.worker ?? random.pick(lane.workers);
    const killed = worker.kill();
    if (killed === null) continue;
    const fault: Fault = { kind: 'kill', target: 'worker', pid: killed.pid, atMs: Date.now(), backMs: null };
    run.faults.push(fault);
    const left = await server.leftRunning(found?.pids ?? []);
    violations.push(...left.map((pid) => `the kill of the worker ${killed.pid} left the process ${pid} of its server`));
    if (found !== null) hits += 1;
    await killed.back;
    fault.backMs = Date.now();
  }
  return hits;
}

async function untilRunning(server: PlannedCommand, { workers }: Lane, signal: AbortSignal) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await server.findRunning(workers);
    if (found !== null || signal.aborted || Date.now() > deadline) return found;
    await delay(pollMs);
  }
}
