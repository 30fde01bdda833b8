import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { BundleFileError, readBundle, writeBundle } from '../../db/bundle-file.ts';
import { canBeId } from '../../db/ids.ts';
import type { JobPiece } from '../../db/job-record.ts';
import { createJobStore } from '../../db/jobs.ts';
import { createJobRecordStore } from '../../db/job-records.ts';
import { integerBetween } from './checks.ts';
import { CommandError } from './context.ts';
import type { WithContext } from './context.ts';
import { isJson, printRecord } from './output.ts';

interface ReplayOptions {
  turn?: number;
  step?: number;
  repository?: string;
}

/** `docket job replay|bundle` */
export function addJobCommands(program: Command, withContext: WithContext): void {
  const group = program.command('job').description('agent jobs: why one ended as it did');
  const counted = integerBetween(1, 999_999);

  group
    .command('replay')
    .description('tell a job step by step, and run the workflow code over its history; nothing outside is asked')
    .argument('<job>', 'the id of a job, or a bundle of one (which needs no database)')
    .option('--turn <number>', 'one turn; without it all of them, and for --step the newest', counted)
    .option('--step <number>', 'all of one step: the exact prompt, the answer, the results, what changed', counted)
    .option('--repository <folder>', 'a clone of the repository, for diffs that need its objects')
    .action(async (job: string, options: ReplayOptions, command: Command) => {
      // what replays weighs more than all other commands together
      const { replayJob } = await import('./replay-job.ts');
      const show = (pieces: AsyncIterable<JobPiece>, workDirectory: string | null) =>
        replayJob({ job, pieces, workDirectory, isJson: isJson(command), ...options });
      if (existsSync(job)) return reading(() => show(readBundle(job), process.env['DOCKET_WORK_DIR'] ?? null));
      if (!canBeId(job)) throw jobUnknown(job);
      return withContext(({ pool, workDirectory }) =>
        show(createJobRecordStore(pool).read(job), workDirectory ?? null),
      );
    });

  group
    .command('bundle')
    .description('write all that is kept of a job into one file, to be replayed on another machine')
    .argument('<id>', 'the id of the job')
    .option('--output <file>', 'without it <id>.docket.gz')
    .action((id: string, { output = `${id}.docket.gz` }: { output?: string }, command: Command) =>
      withContext(async ({ pool }) => {
        if ((await createJobStore(pool).get(id)) === null) throw jobUnknown(id);
        const half = `${output}.${randomUUID()}`;
        try {
          await writeBundle(createJobRecordStore(pool).read(id), createWriteStream(half, { mode: 0o600, flags: 'wx' }));
          await rename(half, output);
        } finally {
          await rm(half, { force: true });
        }
        printRecord(command, { id, file: output });
      }),
    );
}

async function reading<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BundleFileError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}

export function jobUnknown(job: string): CommandError {
  return new CommandError(`There is no job and no file ${JSON.stringify(job)}.`);
}
