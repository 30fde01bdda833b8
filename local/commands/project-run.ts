import type { Command } from 'commander';
import type { ProjectChange } from '../../db/projects.ts';

/** Which commands are run in the jobs of a project. */
export interface RunOptions {
  run?: boolean;
}

/** Adds the options. */
export function addRunOptions(command: Command): Command {
  return command
    .option('--run', 'let agents run commands in the sandbox of the worker (as it is without a word)')
    .option('--no-run', 'do not let them');
}

/** The change that the options ask for. */
export function runOf({ run }: RunOptions): ProjectChange {
  return run === undefined ? {} : { mayRun: run };
}
