import type { Command } from 'commander';
import type { ProjectSettings } from '../../db/organizations/projects.ts';
import { checkCommandSchema } from '../../lib/inputs/administration.ts';
import { readOrNone } from './checks.ts';

/** Which commands are run in the jobs of a project. */
export interface RunOptions {
  run?: boolean;
  check?: string;
}

/** Adds the options; an empty check command takes it away. */
export function addRunOptions(command: Command): Command {
  return command
    .option('--run', "let agents run commands in the worker's sandbox (default)")
    .option('--no-run', 'do not let agents run commands')
    .option(
      '--check <command>',
      'shell command that must succeed before the agent may finish ("" for none)',
      readOrNone(checkCommandSchema),
    );
}

/** The change that the options ask for. */
export function runOf({ run, check }: RunOptions): ProjectSettings {
  return {
    ...(run === undefined ? {} : { mayRun: run }),
    ...(check === undefined ? {} : { checkCommand: check === '' ? null : check }),
  };
}
