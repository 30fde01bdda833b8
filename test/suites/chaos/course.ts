import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { checkEnd } from './checks/check-end.ts';
import { createJobClient } from './job-client.ts';
import type { JobPlan } from './plans/job-plans.ts';
import { atRandom, runJobs, type JobRun } from './job-run.ts';
import { startLane, type Lane, type LaneOptions } from './lane.ts';
import { playPlans } from './plans/planned-model.ts';
import { createRandom } from './plans/random.ts';
import { repositoryFiles, setScene, type Scene } from './scene.ts';
import type { ChaosServers } from './servers/servers.ts';

export interface Course {
  lane: Lane;
  scene: Scene;
  run: JobRun;
  model: ScriptedModelServer;
}

export interface CourseOptions {
  servers: ChaosServers;
  seed: number;
  /** Of jobs on `repositoryFiles(0)`. */
  plans: JobPlan[];
  lane: Omit<LaneOptions, 'servers'>;
  /** Runs in parallel to the jobs. */
  disturb?(course: Course): Promise<void>;
  /** Inspects the stores while they still run; the default compares everything with the plans. */
  check?(course: Course, temporal: { temporalAddress: string; namespace: string }): Promise<string[]>;
}

/** Runs planned jobs on their own lane while a fault is injected; returns what is wrong at the end. */
export async function runCourse(options: CourseOptions): Promise<{ run: JobRun; violations: string[] }> {
  const { servers, seed, plans, check = ({ run, scene }, temporal) => checkEnd(run, scene, temporal) } = options;
  await using model = await startScriptedModelServer();
  const env = {
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-planned-model',
    ...options.lane.env,
  };
  await using lane = await startLane({ servers, ...options.lane, env });
  await using scene = await setScene(lane, [repositoryFiles(0)]);
  const { calls } = playPlans(model, plans);
  const projects = scene.repositories.map(({ projectId }) => projectId);
  const client = createJobClient({ ...lane, projects, run: `${lane.namespace}-${seed}` });
  const run: JobRun = { startedMs: Date.now(), endedMs: 0, plans, calls, faults: [], client };
  const course = { lane, scene, run, model };
  await Promise.all([runJobs(run, atRandom(createRandom(seed).fork(3))), options.disturb?.(course)]);
  run.endedMs = Date.now();
  for (const plan of plans) if (client.jobs.has(plan.index)) await client.get(plan);
  const temporal = { temporalAddress: servers.temporalAddress, namespace: lane.namespace };
  const violations = [
    ...model.violations.map((text) => `the model server: ${text}`),
    ...(await check(course, temporal)),
  ];
  return { run, violations: violations.map((text) => `${lane.namespace}: ${text}`) };
}
