import { setTimeout as delay } from 'node:timers/promises';
import { getJob } from '../../../cli/commands/job-watch.ts';
import { answerOf, type Api } from '../../../cli/http/api.ts';
import { followJob } from '../../../cli/http/events.ts';
import { environmentPath } from '../../../lib/environments/environment.ts';
import type { PreparedRepository } from './prepare.ts';

/** What the job changes, in the grammar of the offline editor: a new file might lack a license that the tests ask for. */
const promptFor = (readme: string) => `Append "Tested in its own environment.\\n" to ${readme}.`;

export interface JobWish {
  projectId: string;
  repository: PreparedRepository;
  branch: string;
  /** Called at the beginning of the setup and of the tests, each time that a worker begins them. */
  onBegin?(what: Phase): Promise<void>;
}

export type Phase = 'setup' | 'tests';

export interface JobReport {
  seconds: number;
  /** Seconds of the setup or of its restored result, as the timeline says. */
  setupSeconds: number;
  /** Null if the tests ended unseen: their live output goes as soon as their result is stored. */
  testSeconds: number | null;
  /** How often each was begun. */
  begun: Record<Phase, number>;
  /** Where the job's dependencies come from. */
  source: 'setup' | 'kept' | 'nowhere';
  link: string;
  problems: string[];
}

/** Runs a job through the HTTP API until it ends, and compares its result with what it must be. */
export async function runJob(api: Api, { projectId, repository, branch, onBegin }: JobWish): Promise<JobReport> {
  const { check } = repository.environment;
  const headings = { [`$ setup of ${environmentPath}`]: 'setup', [`$ ${check}`]: 'tests' } as const;
  const beganMs = performance.now();
  const { id } = await answerOf(
    api.POST('/v2/agent/{projectId}/job', {
      params: { path: { projectId } },
      body: { prompt: promptFor(repository.readme), source: { ref: branch }, model: 'offline/editor' },
    }),
  );
  const ref = { projectId, id };
  const report: JobReport = {
    seconds: 0,
    setupSeconds: 0,
    testSeconds: null,
    begun: { setup: 0, tests: 0 },
    source: 'nowhere',
    link: '',
    problems: [],
  };
  let last = 0;
  for (;;) {
    for await (const { seq, data } of followJob(api, ref, { after: last, onLost: () => undefined })) {
      last = seq;
      const text = data.text ?? '';
      const found = Object.entries(headings).find(([heading]) => text.startsWith(`${heading}\n`));
      if (found !== undefined) {
        report.begun[found[1]] += 1;
        await onBegin?.(found[1]);
      }
      const [, succeeded, skipped] = / succeeded in ([\d.]+) s\.| is skipped: .*\(([\d.]+) s\)/.exec(text) ?? [];
      if (succeeded !== undefined || skipped !== undefined) {
        report.source = succeeded === undefined ? 'kept' : 'setup';
        report.setupSeconds = Number(succeeded ?? skipped);
      }
      if (typeof data['durationMs'] === 'number' && report.begun.tests > 0)
        report.testSeconds = data['durationMs'] / 1_000;
    }
    if ((await getJob(api, ref)).status !== 'active') break;
    await delay(200);
  }
  report.seconds = (performance.now() - beganMs) / 1_000;
  const job = await getJob(api, ref);
  report.link = job.prLink ?? '';
  const { check: checked, message } = job.details;
  if (job.status !== 'completed') report.problems.push(`is ${job.status}: ${message}`);
  if (job.prLink === null) report.problems.push('opened no pull request');
  if (checked?.result !== 'passed') report.problems.push(`has the check ${checked?.result}: ${message}`);
  report.problems.push(...(await changeProblems(repository, branch, await branchOf(api, id))));
  return report;
}

/** Returns the branch of a job's pull request. */
async function branchOf(api: Api, id: string): Promise<string | null> {
  const { jobs } = await answerOf(api.GET('/v1/jobs', { params: { query: { q: id, limit: 100 } } }));
  return jobs.find((one) => one.id === id)?.branch ?? null;
}

/** What setup installed must not be on the branch. */
async function changeProblems(
  { trees, readme }: PreparedRepository,
  base: string,
  branch: string | null,
): Promise<string[]> {
  if (branch === null) return ['has no branch'];
  const changed = await trees.git('diff', '--name-only', `refs/heads/${base}`, `refs/heads/${branch}`);
  return changed === readme ? [] : [`changes ${changed.split('\n').slice(0, 5).join(', ')}`];
}
