import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import type { ProjectSettings } from '../../db/organizations/projects.ts';
import { compileGlob } from '../../search/read/glob.ts';
import { forgeUrlSchema, markSchema } from '../../lib/inputs/administration.ts';
import { messageOf } from '../../local/start-error.ts';
import { readBy, readOrNone } from './checks.ts';

/** How the pull requests of a project are made. */
export interface ReviewOptions {
  forgeUrl?: string;
  reviewer?: string[];
  label?: string[];
  assignee?: string[];
  path?: string[];
  workflows?: boolean;
}

/** Adds the options; a list is given by repeating its option, and emptied by an empty text. */
export function addReviewOptions(command: Command): Command {
  return command
    .option(
      '--forge-url <url>',
      "address of the forge, if it is not the root of the repository's server",
      readOrNone(forgeUrlSchema),
    )
    .option('--reviewer <login>', 'reviewer of its pull requests (repeatable; "" for none)', collect)
    .option('--label <name>', 'label of its pull requests (repeatable; "" for none)', collect)
    .option('--assignee <login>', 'assignee of its pull requests (repeatable; "" for none)', collect)
    .option('--path <glob>', 'paths that jobs may change, such as "docs/**" (repeatable; "" for all)', collectGlob)
    .option('--workflows', 'allow changes to files that the forge runs, such as .github/workflows')
    .option('--no-workflows', 'do not allow them (default)');
}

/** The change that the options ask for. */
export function reviewOf({ forgeUrl, reviewer, label, assignee, path, workflows }: ReviewOptions): ProjectSettings {
  return {
    ...(forgeUrl === undefined ? {} : { forgeUrl: forgeUrl || null }),
    ...(reviewer === undefined ? {} : { reviewers: reviewer }),
    ...(label === undefined ? {} : { labels: label }),
    ...(assignee === undefined ? {} : { assignees: assignee }),
    ...(path === undefined ? {} : { allowedPaths: path }),
    ...(workflows === undefined ? {} : { mayChangeWorkflows: workflows }),
  };
}

const readMark = readBy(markSchema);

function collect(text: string, earlier: string[] = []): string[] {
  return text.trim() === '' ? [] : [...earlier, readMark(text)];
}

function collectGlob(text: string, earlier: string[] = []): string[] {
  if (text.trim() === '') return [];
  try {
    compileGlob(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  return [...earlier, text];
}
