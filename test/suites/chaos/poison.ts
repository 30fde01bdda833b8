import { setTimeout as delay } from 'node:timers/promises';
import { readTool, seedOption, wholeNumber } from '../../../lib/inputs/tool-arguments.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-server.ts';
import { checkJob } from './checks/check-job.ts';
import { checkCalls, type StoredAnswer } from './checks/check-traffic.ts';
import { runCourse, type Course } from './course.ts';
import { percentile } from './hit-jobs.ts';
import { planJobs, type JobPlan } from './plans/job-plans.ts';
import { createRandom } from './plans/random.ts';
import { printEnd, printTraffic } from './report.ts';
import { repositoryFiles } from './scene.ts';
import { startServers } from './servers/servers.ts';

const pollMs = 100;
const cancelledMs = 60_000;
/** A good job may take this many times as long as without poison, and this much longer on a busy machine. */
const tolerance = { factor: 3, extraMs: 15_000 };

const call = (name: string, input: unknown): ScriptedReply => ({ toolCalls: [{ name, input }] });

/** The constant answers of the models of bad jobs. */
const poisons: Record<string, (step: number) => ScriptedReply> = {
  'always fails': () => ({ status: 500 }),
  'answers nothing': () => ({ stall: true }),
  'breaks off': () => ({ text: 'I begin to', cut: true }),
  'asks the same for ever': () => call('read', { path: 'notes/0/note-0.md' }),
  'writes too much': (step) => call('write', { path: `big/${step}.txt`, content: 'All work. '.repeat(40_000) }),
  'says too much': () => ({ ...call('list', { path: '.' }), text: ['No play. '.repeat(40_000)] }),
  'breaks out': (step) =>
    step % 2 === 0
      ? call('read', { path: '../../../../etc/passwd' })
      : call('write', { path: '.git/hooks/pre-push', content: '#!/bin/sh\nexit 1\n' }),
  'speaks no JSON': () => ({ toolCalls: [{ name: 'edit', rawArguments: '{"path": "notes' }] }),
};

/** Good jobs among bad ones: they end correctly, and not much later than among good ones only. */
export async function runPoisonChaos(args: string[]): Promise<number> {
  const { options } = readTool(
    {
      command: 'npm run chaos -- poison',
      about: 'Runs jobs whose models fail, hang or loop among good ones.',
      options: {
        jobs: wholeNumber().default(16).describe('good jobs to run'),
        poison: wholeNumber().default(16).describe('bad jobs to run'),
        seed: seedOption(),
      },
    },
    args,
  );
  const { jobs, poison, seed } = options;
  console.log(`poison: good jobs: ${jobs}, bad jobs: ${poison}, seed: ${seed}`);
  await using servers = await startServers();
  const good = () => planJobs({ count: jobs, repositories: [repositoryFiles(0)], random: createRandom(seed).fork(1) });
  const env = { DOCKET_MAX_STEPS: '12' };
  const alone = await runCourse({ servers, seed, plans: good(), lane: { name: 'alone', env } });
  const bad = Array.from({ length: poison }, (_, index) => badPlan(jobs + index));
  const among = createRandom(seed)
    .fork(2)
    .shuffled([...good(), ...bad]);
  const lane = { name: 'among', env };
  const isBad = (plan: JobPlan) => plan.index >= jobs;
  const mixed = await runCourse({
    servers,
    seed,
    plans: among,
    lane,
    disturb: (course) => cancelBad(course, isBad),
    check: (course) => checkGood(course, isBad),
  });
  const violations = [...alone.violations, ...mixed.violations];
  printTraffic(mixed.run);
  const [without, beside] = [timesOf(alone, () => true), timesOf(mixed, (plan) => !isBad(plan))];
  const seconds = (ms: number) => (ms / 1000).toFixed(1);
  const told = (times: number[]) => `p50 ${seconds(percentile(times, 0.5))} s, max ${seconds(percentile(times, 1))} s`;
  console.log(`good     alone ${told(without)}; among bad jobs ${told(beside)}`);
  if (percentile(beside, 1) > tolerance.factor * percentile(without, 1) + tolerance.extraMs)
    violations.push('good jobs wait for bad ones');
  return printEnd(violations, seed);
}

function badPlan(index: number): JobPlan {
  const kinds = Object.entries(poisons);
  const [name, reply] = kinds[index % kinds.length]!;
  const marker = `[chaos-${index}]`;
  const prompt = `${marker} ${name}`;
  const ending = { kind: 'unchanged' } as const;
  return { index, marker, prompt, repository: 0, ref: null, steps: [], turns: [], ending, reply };
}

/** Cancels the remaining bad jobs when the good ones have ended. */
async function cancelBad({ lane, scene, run }: Course, isBad: (plan: JobPlan) => boolean): Promise<void> {
  const statusOf = ({ index }: JobPlan) => run.client.jobs.get(index)?.status;
  const isOver = (plan: JobPlan) => statusOf(plan) !== undefined && (isBad(plan) || statusOf(plan) !== 'active');
  while (!run.plans.every(isOver)) await delay(pollMs);
  const { projectId } = scene.repositories[0]!;
  for (const plan of run.plans.filter(isBad)) {
    const { id, status } = run.client.jobs.get(plan.index)!;
    if (status !== 'active') continue;
    const url = `${lane.baseUrl}/v2/agent/${projectId}/job/${id}/cancel`;
    const response = await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${lane.adminKey}` } });
    if (!response.ok) run.client.violations.push(`cancel answers ${response.status}`);
  }
}

async function checkGood({ run, scene, model }: Course, isBad: (plan: JobPlan) => boolean): Promise<string[]> {
  const found = [...run.client.violations];
  const stored: StoredAnswer[] = [];
  const place = scene.repositories[0]!;
  for (const plan of run.plans) {
    const { id, status } = run.client.jobs.get(plan.index)!;
    if (!isBad(plan)) {
      const checked = await checkJob(scene.pool, place, plan, id);
      found.push(...checked.violations);
      stored.push(...checked.stored);
      continue;
    }
    if (status === 'active') found.push(`the bad job ${plan.index} (${plan.prompt}) has not ended`);
    const requests = (await place.pullRequests()).filter(({ head }) => head.startsWith(`docket/${id}-`));
    if (requests.length > 1) found.push(`the bad job ${plan.index} has ${requests.length} pull requests`);
  }
  found.push(...checkCalls(run, stored));
  // a cancelled call ends within moments, so no one pays for an answer that is not read
  const open = model.requests.map(({ closed }) => closed);
  const closed = await Promise.race([Promise.all(open), delay(cancelledMs, null, { ref: false })]);
  if (closed === null) found.push('a call of the model is still open');
  return found;
}

function timesOf({ run }: { run: Course['run'] }, isMeant: (plan: JobPlan) => boolean): number[] {
  return run.plans.filter(isMeant).flatMap(({ index }) => {
    const own = run.client.exchanges.filter(({ job }) => job === index);
    return own.length === 0 ? [] : [own.at(-2)!.toMs - own[0]!.fromMs];
  });
}
