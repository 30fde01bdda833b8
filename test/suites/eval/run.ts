import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { answerOf, ApiProblem, everyItem, UnreachableError, type Api } from '../../../cli/http/api.ts';
import { followJob } from '../../../cli/http/events.ts';
import { getJob } from '../../../cli/commands/job-watch.ts';
import { CommandError } from '../../../cli/command-error.ts';
import type { Judge } from './judge.ts';
import type { PreparedTask, Repositories } from './repositories.ts';
import { keyOf, type Header, type Result } from './results.ts';
import type { Task } from './tasks.ts';

export interface RunOptions {
  api: Api;
  judge: Judge | null;
  repositories: Repositories;
  header: Header;
  /** Results of earlier runs of the same file. */
  results: Result[];
  tasks: Task[];
  attempts: number;
  concurrency: number;
  append(result: Result): Promise<void>;
  say(line: string): void;
}

/**
 * Runs every attempt that has not run yet as a job, and appends its result. An attempt that cannot be run has a result that
 * says why. Throws CommandError when that is so for all.
 */
export async function runTasks(options: RunOptions): Promise<void> {
  const { api, tasks, attempts, concurrency, results, append, say } = options;
  const projectOf = createProjects(api);
  const ended = new Set(results.filter(({ failure }) => failure !== 'not_run').map(keyOf));
  const pending = Array.from({ length: attempts }, (_, index) => tasks.map((task) => ({ task, attempt: index + 1 })))
    .flat()
    .filter(({ task, attempt }) => !ended.has(keyOf({ task: task.id, attempt })));
  const all = tasks.length * attempts;
  let count = all - pending.length;
  if (count > 0) say(`${count} of ${all} attempts have a result already.`);
  let hasRun = ended.size > 0;
  let problem: CommandError | null = null;
  const lane = async () => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const { task, attempt } = next;
      const result = await runAttempt(options, projectOf, next).catch((error: unknown) => {
        if (!isOfAttempt(error)) throw error;
        problem = error;
        return notRun(task, attempt, error.message);
      });
      hasRun ||= result.job !== null;
      await append(result);
      const { failure, reason } = result;
      const verdict = {
        true: 'resolved',
        false: `not resolved (${failure})`,
        null: failure === null ? 'done' : `${failure}: ${reason}`,
      };
      say(`${(count += 1)}/${all}  ${keyOf(result)}  ${verdict[`${result.resolved}`]}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  if (problem !== null && !hasRun) throw problem;
}

/** Reports whether an error is about one attempt. A service that is down or refuses the key would end the others, too. */
function isOfAttempt(error: unknown): error is CommandError {
  if (error instanceof ApiProblem) return error.status < 500 && error.status !== 401 && error.status !== 403;
  return error instanceof CommandError && !(error instanceof UnreachableError);
}

function notRun({ id, kind, language, repository }: Task, attempt: number, reason: string): Result {
  const begun = { task: id, attempt, kind, language, repository };
  const used = { costUsd: null, steps: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, seconds: 0 };
  return { ...begun, job: null, resolved: null, failure: 'not_run', reason, model: null, ...used, patch: '' };
}

type ProjectOf = (repository: string) => Promise<string>;

async function runAttempt(
  { api, judge, repositories, header, say }: RunOptions,
  projectOf: ProjectOf,
  { task, attempt }: { task: Task; attempt: number },
): Promise<Result> {
  const { id, kind, language, repository } = task;
  const begun = { task: id, attempt, kind, language, repository };
  const missing = (await judge?.missing(task)) ?? null;
  if (missing !== null) return notRun(task, attempt, `This machine has no ${missing}.`);
  const prepared = await repositories.prepare(task);
  const projectId = await persistently(say, () => projectOf(prepared.repository));
  const created = await persistently(say, () =>
    answerOf(
      api.POST('/v2/agent/{projectId}/job', {
        params: { path: { projectId }, header: { 'Idempotency-Key': `eval-${header.run}-${keyOf(begun)}` } },
        body: { prompt: task.prompt, source: { ref: prepared.ref }, model: header.model ?? undefined },
      }),
    ),
  );
  const ref = { projectId, id: created.id };
  await persistently(say, () => untilEnded(api, ref));
  const job = await persistently(say, () => listedJob(api, created.id));
  const { details } = job;
  const tree = await treeOf(prepared, job.branch);
  const { trees, base } = prepared;
  const patch = tree === base ? '' : `${await trees.git('diff', '--binary', '--full-index', base, tree)}\n`;
  const verdict = task.check === null ? undefined : await judge?.judge(task, prepared, tree);
  const isResolved = verdict === undefined ? null : verdict.failure === null;
  const failure = isResolved === true ? null : (details.failure?.category ?? verdict?.failure ?? null);
  return {
    ...begun,
    job: job.id,
    resolved: isResolved,
    failure,
    reason: failure === details.failure?.category ? (details.failure?.title ?? '') : (verdict?.reason ?? ''),
    model: job.model,
    costUsd: details.usage.costUsd,
    steps: details.steps,
    inputTokens: details.usage.inputTokens,
    cachedInputTokens: details.usage.cachedInputTokens,
    outputTokens: details.usage.outputTokens,
    seconds: (Date.parse(job.endedAt ?? job.updatedAt) - Date.parse(job.createdAt)) / 1_000,
    patch,
  };
}

async function treeOf({ trees, base }: PreparedTask, branch: string | null): Promise<string> {
  if (branch === null) return base;
  // a job that failed before its first push has a name for its branch, but no branch
  return trees.git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{tree}`).catch(() => base);
}

async function untilEnded(api: Api, ref: { projectId: string; id: string }): Promise<void> {
  for (;;) {
    // oxlint-disable-next-line no-unused-vars
    for await (const _ of followJob(api, ref, { onLost: () => undefined }));
    if ((await getJob(api, ref)).status !== 'active') return;
  }
}

/** Returns the list entry of a job. Throws CommandError when it was deleted. */
export async function listedJob(api: Api, id: string) {
  const { jobs } = await answerOf(api.GET('/v1/jobs', { params: { query: { q: id, limit: 100 } } }));
  const job = jobs.find((one) => one.id === id);
  if (job === undefined) throw new CommandError(`The job ${id} was deleted. Start the run again to repeat it.`);
  return job;
}

/** Returns a function that finds the project of a local repository, and creates it if there is none. */
function createProjects(api: Api): ProjectOf {
  const known = new Map<string, Promise<string>>();
  async function find(path: string): Promise<string> {
    const repository = pathToFileURL(path).href;
    const projects = await everyItem(
      (query) => answerOf(api.GET('/v1/projects', { params: { query } })),
      (page) => page.projects,
    );
    const found = projects.find((project) => project.repository === repository);
    return (found ?? (await answerOf(api.POST('/v1/projects', { body: { repository } })))).id;
  }
  return (path) => {
    const id = known.get(path) ?? find(path);
    known.set(path, id);
    id.catch(() => known.delete(path));
    return id;
  };
}

const maxFailures = 30;
const pauseMs = 10_000;

/** Repeats a call while the service is not reachable, for five minutes at most, or limits the rate of jobs. */
async function persistently<T>(say: (line: string) => void, call: () => Promise<T>): Promise<T> {
  for (let failures = 0; ;) {
    try {
      return await call();
    } catch (error) {
      const isLimited = error instanceof ApiProblem && error.status === 429;
      const isDown = error instanceof UnreachableError || (error instanceof ApiProblem && error.status >= 500);
      if (!(isLimited || isDown) || failures >= maxFailures) throw error;
      if (isDown) failures += 1;
      say(`${error.message} Trying again.`);
      await sleep(pauseMs);
    }
  }
}
