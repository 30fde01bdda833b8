import { setTimeout as delay } from 'node:timers/promises';
import type { Trace } from '../../support/canary-secrets.ts';
import type { Course } from './model.ts';
import type { Canaries } from './canaries.ts';
import type { SshProject } from './ssh.ts';
import type { LeaksStage } from './stage.ts';

export const courses: Course[] = [
  'published',
  'provider-error',
  'published',
  'forge-error',
  'push-refused',
  'setup-failed',
  'plan',
  'question',
];
const jobPatienceMs = 240_000;

interface JobAnswer {
  id: string;
  status: string;
  details: { failure: { category: string } | null; phase: string | null };
}

export interface JobsOptions {
  /** Adds the API’s responses about the jobs. */
  answers: Trace[];
}

/**
 * Runs jobs on the repositories that are reached by https, each with a second turn; returns their numbers by outcome.
 */
export async function runJobs(
  stage: LeaksStage,
  canaries: Canaries,
  { jobs, answers }: JobsOptions & { jobs: number },
) {
  const { projects, github } = stage;
  const ends: string[] = [];
  for (let number = 0; number < jobs; number += 1) {
    const course = courses[number % courses.length]!;
    if (course === 'forge-error') github.fail({ on: 'create', status: 422, body: { message: canaries.some(6) } });
    const others = { 'push-refused': projects.locked, 'setup-failed': projects.broken };
    const project = course in others ? others[course as keyof typeof others] : projects.open;
    ends.push(await runJob(stage, canaries, { number, course, project, answers }));
  }
  return Map.groupBy(ends, (end) => end);
}

/**
 * Runs jobs of each project that is reached by ssh: the first makes the key known to the worker, the second leaks keys
 * that are then known. Returns the problems.
 */
export async function runSshJobs(
  stage: LeaksStage,
  canaries: Canaries,
  { projects, answers }: JobsOptions & { projects: readonly SshProject[] },
): Promise<string[]> {
  const problems: string[] = [];
  const silent = stage.ssh.url('acme/silent');
  for (const [number, { id: project }] of projects.entries())
    await runJob(stage, canaries, { number, course: 'silent', project, answers, repository: silent });
  for (const [number, { id: project, end }] of projects.entries()) {
    const ended = await runJob(stage, canaries, { number, course: 'published', project, answers });
    if (ended !== end) problems.push(`the job of an ssh key ended ${ended}, not ${end}`);
  }
  return problems;
}

async function runJob(
  { ask }: LeaksStage,
  canaries: Canaries,
  {
    number,
    course,
    project,
    answers,
    repository,
  }: JobsOptions & { number: number; course: Course; project: string; repository?: string },
): Promise<string> {
  const base = `/v2/agent/${project}/job`;
  const headers = { 'idempotency-key': canaries.plain() };
  const prompt = `Job ${number} (${course}): improve the page. ${canaries.shaped()} ${canaries.shaped()}`;
  const waits = { ...(course === 'plan' && { plan: 'review' }), ...(course === 'question' && { ask: true }) };
  const json = { prompt, source: { repository }, ...waits };
  const { id } = JSON.parse((await ask(base, { json, headers })).text) as JobAnswer;

  async function ended(): Promise<JobAnswer> {
    const deadline = Date.now() + jobPatienceMs;
    for (;;) {
      const { text } = await ask(`${base}/${id}`);
      const job = JSON.parse(text) as JobAnswer;
      const isWaiting = job.details.phase === 'waiting';
      if (job.status !== 'active' || isWaiting || Date.now() > deadline) return job;
      await delay(200);
    }
  }
  async function tell(when: string): Promise<void> {
    for (const part of ['', '/events?limit=500'])
      answers.push({ place: `answer: job${part} ${when}`, text: (await ask(`${base}/${id}${part}`)).text });
  }

  const first = await ended();
  if (first.details.phase === 'waiting') {
    await tell('while it waits');
    if (course === 'plan') await ask(`${base}/${id}/approve`, { json: { turn: 1 } });
    else await ask(`${base}/${id}/message`, { json: { prompt: `The first. ${canaries.shaped()}` } });
    await ended();
  } else if (course === 'plan' || course === 'question')
    throw new Error(`The job that needs a ${course} does not wait for a person.`);
  await ask(`${base}/${id}/message`, { json: { prompt: `Once more. ${canaries.shaped()}\n${canaries.shaped()}` } });
  const { status, details } = await ended();
  await tell('at its end');
  return details.failure?.category ?? status;
}
