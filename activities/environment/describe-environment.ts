import { ApplicationFailure } from '@temporalio/activity';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import { copilotSetupPath, readCopilotSetupSteps } from '../../lib/environments/copilot-setup-steps.ts';
import { devcontainerPaths, readDevcontainer } from '../../lib/environments/devcontainer.ts';
import {
  environmentPath,
  longestEnvironment,
  parseEnvironment,
  type Environment,
} from '../../lib/environments/environment.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

/** The description of where a job runs. */
export interface Description {
  environment: Environment;
  /** Name of the description for people. */
  name: string;
  /** Whether it was made for Docket; a setup taken from another product's file may fail. */
  isOwn: boolean;
  /** Sentences for the job's timeline. */
  notices: string[];
}

const borrowed = [
  { path: copilotSetupPath, read: readCopilotSetupSteps },
  ...devcontainerPaths.map((path) => ({ path, read: readDevcontainer })),
];

/**
 * Returns the first description among the project's settings, the repository's own file, and the files of other
 * products, as of the base commit; null when there is none. Throws `setup_failed` when Docket's own is wrong.
 */
export async function describeEnvironment(
  workspaces: Pick<Workspaces, 'readFile'>,
  { project, commit, access }: { project: Pick<ProjectRow, 'environment'>; commit: string; access: RepositoryAccess },
): Promise<Description | null> {
  const read = async (path: string) => {
    const file = await workspaces.readFile({ ...access, commit, path, maxBytes: 4 * longestEnvironment });
    return file?.toString() ?? null;
  };
  if (project.environment !== null) return own("The project's environment", project.environment);
  const text = await read(environmentPath);
  if (text !== null) return own(environmentPath, text);
  for (const { path, read: parse } of borrowed) {
    const found = await read(path);
    if (found === null) continue;
    const { environment, ignored } = parse(found);
    const used = `The environment of this job follows ${path}.`;
    const notices = ignored.length === 0 ? [used] : [`${used} Ignored: ${ignored.slice(0, 20).join('; ')}.`];
    return { environment, name: path, isOwn: false, notices };
  }
  return null;
}

function own(name: string, text: string): Description {
  const parsed = parseEnvironment(text);
  if (!parsed.ok) throw setupFailed(`${name} ${parsed.problem}.`);
  return { environment: parsed.environment, name, isOwn: true, notices: [] };
}

/** Returns the failure that ends a job whose environment cannot be set up. */
export function setupFailed(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FailureType.SetupFailed);
}
