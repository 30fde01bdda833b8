import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Pool } from 'pg';
import { jobMessageSchema } from '../../api/jobs/job-schemas.ts';
import { operatorOf, type Caller } from '../../db/caller.ts';
import { BundleFileError, readBundle, writeBundle } from '../../db/jobs/bundle-file.ts';
import { createErasure } from '../../db/organizations/erasure.ts';
import { canBeId, newId } from '../../db/ids.ts';
import { SnapshotRemovedError } from '../../db/jobs/snapshot-removed.ts';
import { createJobForkStore } from '../../db/jobs/job-forks.ts';
import type { JobPiece } from '../../db/jobs/job-pieces.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import { createJobRecordStore } from '../../db/jobs/job-records.ts';
import { createWorkerJobStore } from '../../db/for-worker/jobs.ts';
import { modelNameSchema } from '../../lib/inputs/administration.ts';
import { codeOf } from '../../local/start-error.ts';
import { integerBetween, readBy } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { isJson, printRecord } from './output.ts';

interface ReplayOptions {
  turn?: number;
  step?: number;
}

/** `docket job replay|fork|bundle|delete` */
export function addJobCommands(program: Command, withContext: WithContext): void {
  const group = program.command('job').description('agent jobs: replay, fork, bundle, delete');
  const counted = integerBetween(1, 999_999);

  group
    .command('replay')
    .description("show a job step by step and replay its history with today's workflow code; contacts nothing outside")
    .argument('<job>', 'the id of a job, or a bundle file (needs no database)')
    .option('--turn <number>', 'one turn (default: all turns, or the newest with --step)', counted)
    .option('--step <number>', 'one step in full: the exact prompt, the answer, the results, the change', counted)
    .action(async (job: string, options: ReplayOptions, command: Command) => {
      // what replays weighs more than all other commands together
      const { replayJob } = await import('./replay-job.ts');
      const show = (pieces: AsyncIterable<JobPiece>) => replayJob({ job, pieces, isJson: isJson(command), ...options });
      if (existsSync(job)) return onFile(job, () => show(readBundle(job)));
      if (!canBeId(job)) throw jobUnknown(job);
      return withContext(async ({ pool }) =>
        show(createJobRecordStore(pool).read(await operatorOfJob(pool, job), job)),
      );
    });

  group
    .command('delete')
    .description('delete a job and everything stored for it, permanently')
    .argument('<id>', 'the id of the job')
    .requiredOption('--yes', 'there is no way back')
    .action((id: string, _options: unknown, command: Command) =>
      withContext(async ({ pool }) => {
        if (!(await createErasure(pool).job(await operatorOfJob(pool, id), id))) throw jobUnknown(id);
        printRecord(command, { id, deleted: true });
      }),
    );

  group
    .command('fork')
    .description('create a job that continues after a step of another job, on its own branch')
    .argument('<id>', 'the id of the job')
    .requiredOption('--step <number>', 'the last step that it takes over', counted)
    .option('--turn <number>', 'default: the newest turn', counted)
    .option('--model <provider/model>', "default: the other job's model", readBy(modelNameSchema))
    .option('--prompt <text>', 'a message that the first new step reads', readBy(jobMessageSchema.shape.prompt))
    .action((id: string, options: ForkOptions, command: Command) =>
      withContext(async (context) => {
        const { id: jobId, model, forkedFrom, createdAt } = await fork(context, id, options);
        const from =
          forkedFrom === null ? null : `${forkedFrom.jobId}, turn ${forkedFrom.turn}, step ${forkedFrom.step}`;
        printRecord(command, { id: jobId, model, forkedFrom: isJson(command) ? forkedFrom : from, createdAt });
      }),
    );

  group
    .command('bundle')
    .description('write everything stored for a job into one file, for replay on another machine')
    .argument('<id>', 'the id of the job')
    .option('--output <file>', 'default: <id>.docket.gz')
    .action((id: string, { output = `${id}.docket.gz` }: { output?: string }, command: Command) =>
      withContext(async ({ pool }) => {
        const operator = await operatorOfJob(pool, id);
        const half = `${output}.${randomUUID()}`;
        try {
          await onFile(output, async () => {
            const file = createWriteStream(half, { mode: 0o600, flags: 'wx' });
            await writeBundle(createJobRecordStore(pool).read(operator, id), file);
            await rename(half, output);
          });
        } finally {
          await rm(half, { force: true });
        }
        printRecord(command, { id, file: output });
      }),
    );
}

interface ForkOptions {
  step: number;
  turn?: number;
  model?: string;
  prompt?: string;
}

async function fork({ pool }: CommandContext, jobId: string, options: ForkOptions): Promise<JobRow> {
  const { turn, step, model = null, prompt = null } = options;
  const forked = createJobForkStore(pool).fork(await operatorOfJob(pool, jobId), {
    id: newId('job_'),
    from: { jobId, turn, step },
    model,
    prompt,
    idempotency: null,
  });
  const made = await forked.catch((error: unknown) => {
    throw error instanceof SnapshotRemovedError ? new CommandError(error.message) : error;
  });
  if ('job' in made) return made.job;
  if (made.kind === 'needs-prompt') {
    throw new CommandError('The agent had finished at this step; add a --prompt to continue from it.');
  }
  if (made.kind !== 'no-step') throw jobUnknown(jobId);
  const there = made.lastStep === null ? 'no step of it has ended' : `the last one that has ended is ${made.lastStep}`;
  throw new CommandError(`A fork continues after a step of turn ${made.turn} that has ended; ${there}.`);
}

/** The operator acts for the organization of the job. */
async function operatorOfJob(pool: Pool, jobId: string): Promise<Caller> {
  const job = await createWorkerJobStore(pool).get(jobId);
  if (job === null) throw jobUnknown(jobId);
  return operatorOf(job);
}

const fileProblems = new Set(['EACCES', 'EISDIR', 'ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS', 'EDQUOT', 'EIO']);

/** A bundle that cannot be read or written is a mistake of the person, or of the machine: one sentence says which. */
async function onFile<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BundleFileError) throw new CommandError(error.message, { cause: error });
    const code = codeOf(error) ?? '';
    if (!fileProblems.has(code)) throw error;
    throw new CommandError(`The file ${JSON.stringify(file)} cannot be used (${code}); name another.`, {
      cause: error,
    });
  }
}

export function jobUnknown(job: string): CommandError {
  return new CommandError(`There is no job and no file ${JSON.stringify(job)}.`);
}
