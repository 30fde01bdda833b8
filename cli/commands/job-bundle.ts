import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { streamOf, whole, type Api } from '../http/api.ts';
import { connect, type CommandContext, type ReplayOptions } from './context.ts';
import type { JobRef } from './job-watch.ts';
import { jobOf, onJob } from './on-job.ts';
import { readInteger } from './options.ts';
import { printRecord } from './output.ts';
import { codeOf } from '../../lib/error-code.ts';

/** Adds `docket job bundle|replay`. */
export function addJobBundleCommands(group: Command, context: CommandContext): void {
  onJob<{ output?: string }>(
    group
      .command('bundle')
      .description('write everything stored for a job into one file, for replay on another machine')
      .option('--output <file>', 'default: <id>.docket.gz'),
    context,
    async ({ api, ref, command }, { output = `${ref.id}.docket.gz` }) => {
      await download(api, ref, output);
      printRecord(command, { id: ref.id, file: output });
    },
  );

  group
    .command('replay')
    .description("show a job step by step and replay its history with today's workflow code; needs a Docket checkout")
    .argument('<job>', 'the id of a job, or a bundle file (needs no service)')
    .option('--turn <number>', 'one turn (default: all turns, or the newest with --step)', readInteger)
    .option('--step <number>', 'one step in full: the exact prompt, the answer, the results, the change', readInteger)
    .action(async (name: string, _options: ReplayOptions, command: Command) => {
      const { replay } = context;
      const options = command.optsWithGlobals<ReplayOptions>();
      if (replay === null)
        throw new CommandError(
          `A replay runs Docket's workflow code, which this package does not have. Run "docket job bundle ${name}" here and "npm run docket -- job replay FILE" in a Docket checkout.`,
        );
      // an id has neither a dot nor a slash
      if (existsSync(name) || /[./]/.test(name)) return onFile(name, () => replay({ file: name, name }, options));
      const { api } = await connect(context, command);
      const folder = await mkdtemp(join(tmpdir(), 'docket-replay-'));
      try {
        const file = join(folder, 'bundle');
        await download(api, await jobOf(api, name), file);
        await replay({ file, name }, options);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
}

/** Downloads a bundle. The file appears only once the download is complete. */
async function download(api: Api, path: JobRef, file: string): Promise<void> {
  const stream = await streamOf(
    api.GET('/v2/agent/{projectId}/job/{id}/bundle', {
      params: { path },
      headers: { Accept: 'application/gzip' },
      parseAs: 'stream',
    }),
  );
  const half = `${file}.${randomUUID()}`;
  await onFile(file, async () => {
    try {
      await whole(pipeline(Readable.from(stream), createWriteStream(half, { mode: 0o600, flags: 'wx' })));
      await rename(half, file);
    } finally {
      await rm(half, { force: true });
    }
  });
}

const fileProblems = new Set(['EACCES', 'EISDIR', 'ENOENT', 'ENOSPC', 'ENOTDIR', 'EPERM', 'EROFS', 'EDQUOT', 'EIO']);

async function onFile<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    const code = codeOf(cause);
    if (code === null || !fileProblems.has(code)) throw cause;
    throw new CommandError(`The file ${JSON.stringify(file)} cannot be used (${code}). Use another file.`, { cause });
  }
}
