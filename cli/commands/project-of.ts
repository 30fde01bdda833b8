import type { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { answerOf, type Api } from '../http/api.ts';

/** Adds the argument that names a project. */
export function onProject(command: Command): Command {
  return command.argument('<id>', 'the id of the project');
}

/** Returns the id of the named project, or of the organization's only project. */
export async function projectIdOf(api: Api, named: string | undefined): Promise<string> {
  if (named) return named;
  const { projects } = await answerOf(api.GET('/v1/projects', { params: { query: { limit: 2 } } }));
  const [only] = projects;
  if (only !== undefined && projects.length === 1) return only.id;
  throw new CommandError(
    only === undefined
      ? 'The organization has no project; "docket project create" creates one.'
      : 'There are several projects. Choose one with --project or DOCKET_PROJECT; "docket project list" shows the ids.',
    { exitCode: 2 },
  );
}
