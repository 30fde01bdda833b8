import { ApplicationFailure } from '@temporalio/activity';
import type { ProjectRow } from '../../db/organizations/projects.ts';
import { copilotSetupPath, readCopilotSetupSteps } from '../../lib/environments/copilot-setup-steps.ts';
import {
  devcontainerFolder,
  devcontainerPaths,
  isNamedDevcontainer,
  readDevcontainer,
} from '../../lib/environments/devcontainer.ts';
import {
  environmentPath,
  maxEnvironmentLength,
  misspelledPath,
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

/** Files of other products, in order of precedence. */
const borrowed = new Map([
  [copilotSetupPath, readCopilotSetupSteps],
  ...devcontainerPaths.map((path) => [path, readDevcontainer] as const),
]);

/** Used when a repository has no description that Docket follows. */
const none = { environment: {}, name: 'the repository', isOwn: false };

/**
 * Returns the first description among the project's settings, the repository's own file, and the files of other
 * products, as of the base commit; null when there is none. Throws `setup_failed` when Docket's own is wrong.
 */
export async function describeEnvironment(
  workspaces: Pick<Workspaces, 'readFirst' | 'listFiles'>,
  { project, commit, access }: { project: Pick<ProjectRow, 'environment'>; commit: string; access: RepositoryAccess },
): Promise<Description | null> {
  if (project.environment !== null) return own("the project's environment", project.environment);
  const unread = new Set<string>();
  const onLink = (path: string) => void unread.add(`Docket does not read ${path}, because it is a symbolic link.`);
  const read = { ...access, commit, maxBytes: 4 * maxEnvironmentLength };
  const first = await workspaces.readFirst({
    ...read,
    paths: [environmentPath, misspelledPath, ...borrowed.keys()],
    onLink,
  });
  if (first?.path === environmentPath) return own(first.path, first.content.toString());
  let found = first;
  if (first?.path === misspelledPath) {
    unread.add(`Docket does not read ${misspelledPath}: its name must be ${environmentPath}.`);
    found = await workspaces.readFirst({ ...read, paths: [...borrowed.keys()], onLink });
  }
  const other = found === null ? await namedContainer(workspaces, read) : ofOther(found);
  if (unread.size === 0) return other;
  const { notices, ...described } = other ?? { ...none, notices: [] };
  return { ...described, notices: [...unread, ...notices] };
}

/** Describes the only container of a repository that is in a named folder. */
async function namedContainer(
  workspaces: Pick<Workspaces, 'readFirst' | 'listFiles'>,
  read: RepositoryAccess & { commit: string; maxBytes: number },
): Promise<Description | null> {
  const named = await workspaces.listFiles({ ...read, folder: devcontainerFolder, isWanted: isNamedDevcontainer });
  if (named.length > 1) return noneOf(named.map(({ path }) => path));
  const only = await workspaces.readFirst({ ...read, paths: named.map(({ path }) => path) });
  return only === null ? null : ofOther(only);
}

function noneOf(paths: string[]): Description {
  const listed = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ', …' : '');
  const notice = `The repository has several development containers, and Docket follows none of them: ${listed}. Describe the environment in ${environmentPath}.`;
  return { ...none, notices: [notice] };
}

function ofOther({ path, content }: { path: string; content: Buffer }): Description {
  const read = borrowed.get(path) ?? readDevcontainer;
  const { environment, ignored } = read(content.toString());
  const used = `The environment of this job follows ${path}.`;
  const notices = ignored.length === 0 ? [used] : [`${used} Ignored: ${ignored.slice(0, 20).join('; ')}.`];
  return { environment, name: path, isOwn: false, notices };
}

function own(name: string, text: string): Description {
  const parsed = parseEnvironment(text);
  if (!parsed.ok) throw setupFailed(`${name.charAt(0).toUpperCase()}${name.slice(1)} ${parsed.problem}.`);
  return { environment: parsed.environment, name, isOwn: true, notices: [] };
}

/** Returns the failure that ends a job whose environment cannot be set up. */
export function setupFailed(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, FailureType.SetupFailed);
}

/** Reports whether an error is such a failure. */
export function isSetupFailure(error: unknown): error is Error {
  return error instanceof Error && 'type' in error && error.type === FailureType.SetupFailed;
}
