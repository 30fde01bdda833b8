import type { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { answerOf, type Api } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import type { JobRef } from './job-watch.ts';

export interface OnJob {
  api: Api;
  ref: JobRef;
  command: Command;
}

/** Makes a command accept a job id, and optionally one more argument, and run on that job. */
export function onJob<Options extends object>(
  command: Command,
  context: CommandContext,
  work: (on: OnJob, options: Options, more?: string) => Promise<void>,
  more?: string,
): void {
  command.argument('<job>', 'the id of the job');
  if (more !== undefined) command.argument(more, '"-" reads it from standard input');
  command.action(async () => {
    const [id = '', given] = command.args;
    const { api } = await connect(context, command);
    await work({ api, ref: await jobOf(api, id), command }, command.opts<Options>(), given);
  });
}

/** Finds the project of a job: the API needs it to address the job, but users should not have to give it. */
export async function jobOf(api: Api, id: string): Promise<JobRef> {
  const { jobs } = await answerOf(api.GET('/v1/jobs', { params: { query: { q: id, limit: 1 } } }));
  const found = jobs.find((job) => job.id === id);
  if (found !== undefined) return { projectId: found.projectId, id };
  throw new CommandError(`There is no job ${JSON.stringify(id)}; "docket job list" shows the newest.`);
}
