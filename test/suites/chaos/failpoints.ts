import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { checkStores } from './checks/check-end.ts';
import { checkSpecial, startPlannedServer } from './checks/check-special.ts';
import type { Failpoint } from './failpoint-file.ts';
import { planFailpoints } from './plans/failpoint-plan.ts';
import { createJobClient } from './job-client.ts';
import type { JobPlan } from './plans/job-plans.ts';
import type { JobRun } from './job-run.ts';
import { startLane, type Lane } from './lane.ts';
import { playPlans, type ModelCall } from './plans/planned-model.ts';
import { createRandom } from './plans/random.ts';
import { planEverything } from './plans/special-plans.ts';
import { repositoryFiles, setScene, type Scene } from './scene.ts';
import { startServers } from './servers/servers.ts';
import { printEnd } from './report.ts';
import { repeatedCalls } from './checks/check-traffic.ts';

interface Options {
  runs: number;
  lanes: number;
  seed: number;
}

interface FailingLane {
  lane: Lane;
  scene: Scene;
  run: JobRun;
  folder: string;
}

/** Longer than the timeout of a silent worker. */
const haltMs = 9_000;
const pollMs = 25;
/** A run that has not ended by then is stuck. */
const maxRunMs = 240_000;

/**
 * One job in each run, with a setup, an MCP server, a plan that is approved, a question that is answered and a message,
 * and in each run one failpoint: an edge of an activity, a store, git, the forge, the model or Temporal's client, at
 * which the process is killed or suspended, the connection is lost or a response delayed.
 * Every job must complete with one pull request and the tree of the undisturbed run.
 */
export async function runFailpointsChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- failpoints',
      about: 'Kills, suspends or disconnects a process before and after each of its calls, one per job.',
      options: {
        runs: wholeNumber().default(300).describe('jobs, each with one failpoint'),
        lanes: wholeNumber().default(5).describe('jobs at once'),
        seed: seedOption(),
      },
    },
    args,
  );
  console.log(`failpoints: runs: ${options.runs}, lanes: ${options.lanes}, seed: ${options.seed}`);
  await using model = await startScriptedModelServer();
  await using servers = await startServers();
  await using tools = await startPlannedServer();
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    DOCKET_PRIVATE_HOSTS: tools.host,
    // the lanes share a PostgreSQL of 200 connections
    DOCKET_DATABASE_CONNECTIONS: '8',
  };
  const plans: JobPlan[] = [];
  const { calls } = playPlans(model, plans);
  await using made = new AsyncDisposableStack();
  const lanes: FailingLane[] = [];
  for (let index = 1; index <= options.lanes; index += 1) {
    const name = `lane${index}`;
    const folder = join(servers.home, name, 'failpoints');
    await mkdir(folder, { recursive: true });
    const entries = {
      api: 'test/suites/chaos/processes/failing-api.ts',
      worker: 'test/suites/chaos/processes/failing-worker.ts',
    };
    const lane = made.use(
      await startLane({ servers, name, workers: 2, entries, env: { ...env, CHAOS_FAILPOINTS: folder } }),
    );
    const scene = made.use(await setScene(lane, [repositoryFiles(0)], { url: tools.url, command: null }));
    const projects = scene.repositories.map(({ projectId }) => projectId);
    const client = createJobClient({ ...lane, projects, run: name });
    lanes.push({
      lane,
      scene,
      folder,
      run: { startedMs: Date.now(), endedMs: 0, plans: [], calls, faults: [], client, sentLate: new Set() },
    });
  }
  const violations = await runOn(lanes, { plans, calls, options });
  for (const failing of lanes) {
    failing.run.calls = calls.filter(({ job }) => failing.run.plans.some(({ index }) => index === job));
    const { lane, run, scene } = failing;
    const temporal = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
    violations.push(
      ...(await checkStores(run, scene, temporal)),
      ...(await checkSpecial(scene.pool, run, tools, { isEachNew: true })),
    );
  }
  violations.push(...model.violations.map((text) => `the model server: ${text}`));
  if (process.env['CHAOS_HOLD'] !== undefined) await delay(Number(process.env['CHAOS_HOLD']));
  return printEnd(violations, options.seed);
}

interface Course {
  plans: JobPlan[];
  calls: ModelCall[];
  options: Options;
}

async function runOn(lanes: FailingLane[], { plans, calls, options }: Course): Promise<string[]> {
  const violations: string[] = [];
  const planOf = (index: number) => {
    const plan = planEverything({
      index,
      repository: 0,
      files: repositoryFiles(0),
      random: createRandom(options.seed),
    });
    plans.push(plan);
    return plan;
  };
  const [first] = lanes;
  await writeFile(join(first!.folder, 'tracing'), '');
  const undisturbed = await runJob(first!, planOf(0));
  await rm(join(first!.folder, 'tracing'));
  const passes = await readPasses(first!.folder);
  const points = planFailpoints({ runs: options.runs, passes, random: createRandom(options.seed).fork(1) });
  await printPlaces(first!.folder, passes);

  const startedMs = Date.now();
  const fired = new Map<string, number>();
  const waiting = [...points.entries()];
  const work = async (failing: FailingLane) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, point] = next;
      const plan = planOf(index + 1);
      const name = `run ${index} (${point.action} ${point.edge} ${point.name}, pass ${point.hit})`;
      const begunMs = Date.now();
      if (isPastLastLook(point)) failing.run.sentLate?.add(plan.index);
      const { isFired, tree } = await runWith(failing, plan, point);
      if (isFired) fired.set(point.action, (fired.get(point.action) ?? 0) + 1);
      if (tree !== undisturbed) violations.push(`${name} ends with the tree ${tree} and not ${undisturbed}`);
      const repeated = repeatedCalls(calls.filter(({ job }) => job === plan.index)).length;
      if (repeated > 1) violations.push(`${name} asks the model ${repeated} times again`);
      if (process.env['CHAOS_VERBOSE'] !== undefined || repeated > 0)
        console.log(
          `${name}: ${((Date.now() - begunMs) / 1000).toFixed(1)} s${isFired ? '' : ', not passed'}${repeated > 0 ? `, job ${plan.index} asked the model again` : ''}`,
        );
    }
  };
  await Promise.all(lanes.map(work));
  const total = [...fired.values()].reduce((sum, count) => sum + count, 0);
  const kinds = [...fired].map(([action, count]) => `${action}: ${count}`).join(', ');
  console.log(
    `runs     ${points.length} in ${((Date.now() - startedMs) / 1000).toFixed(0)} s; fired in ${total} (${kinds})`,
  );
  console.log(
    `model    ${calls.length} calls, ${repeatedCalls(calls).length} of them again (aim: at most one a fault)`,
  );
  return violations;
}

/** Between the last check of the database and the request there is a moment that no process can close. */
function isPastLastLook({ name, edge, action }: Failpoint): boolean {
  return name === 'worker/leases.begin' && edge === 'after' && action === 'halt';
}

/** Runs the turns of a job, with a setup that has not run before; returns the tree of its branch. */
async function runJob({ lane, run, scene }: FailingLane, plan: JobPlan): Promise<string | null> {
  const deadline = Date.now() + maxRunMs;
  run.plans.push(plan);
  await scene.pool.query('delete from environment_layers');
  for (const index of lane.workers.keys())
    await rm(join(lane.home, `work-${index + 1}`, 'layers'), { recursive: true, force: true });
  await run.client.create(plan);
  for (let turn = 1; turn <= plan.turns.length; turn += 1) {
    if (turn > 1) await run.client.goOn(plan, turn);
    await run.client.follow(plan, () => Date.now() > deadline);
  }
  const seen = run.client.jobs.get(plan.index);
  if (seen?.status !== 'completed' || seen.prLink === null) return `none: ${JSON.stringify(seen)}`;
  const { rows } = await scene.pool.query<{ commit: string }>('select head_commit as commit from jobs where id = $1', [
    seen.id,
  ]);
  return scene.repositories[0]!.repository.git('rev-parse', `${rows[0]!.commit}^{tree}`);
}

async function runWith(failing: FailingLane, plan: JobPlan, point: Failpoint) {
  const { folder, lane, run } = failing;
  const armed = join(folder, 'armed.json');
  await writeFile(`${armed}.new`, JSON.stringify(point));
  await rename(`${armed}.new`, armed);
  const over = new AbortController();
  let isFired = false;
  const watch = async () => {
    while (!over.signal.aborted && !isFired) {
      isFired = (await stat(join(folder, `fired-${point.id}.json`)).catch(() => null)) !== null;
      if (!isFired) await delay(pollMs);
    }
    if (!isFired) return;
    const fault = { kind: 'kill' as const, target: 'worker' as const, pid: 0, atMs: Date.now(), backMs: null };
    run.faults.push(fault);
    if (point.action === 'halt') await delay(haltMs);
    for (const member of [lane.api, ...lane.workers]) member.resume();
    Object.assign(fault, { backMs: Date.now() });
  };
  const watching = watch();
  const tree = await runJob(failing, plan);
  over.abort();
  await watching;
  await rm(armed, { force: true });
  return { isFired, tree };
}

async function readPasses(folder: string): Promise<Map<string, number>> {
  const lines = (await readFile(join(folder, 'trace.txt'), 'utf8')).split('\n').filter(Boolean);
  const groups = Map.groupBy(lines, (name) => name);
  return new Map([...groups].map(([name, { length }]) => [name, length]));
}

async function printPlaces(folder: string, passes: ReadonlyMap<string, number>): Promise<void> {
  const names = new Set((await readFile(join(folder, 'names.txt'), 'utf8')).split('\n').filter(Boolean));
  console.log(`places   ${names.size} with two edges each; a job passes ${passes.size} of them`);
  if (process.env['CHAOS_VERBOSE'] !== undefined)
    console.log([...passes].map(([name, count]) => `${name} ${count}`).join('\n'));
}
