import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { compileGlob } from '../../activities/agent-tools/glob-pattern.ts';
import type { ProjectChange } from '../../db/projects.ts';
import { messageOf } from '../start-error.ts';

/** How the pull requests of a project are made. */
export interface ReviewOptions {
  forgeUrl?: string | null;
  reviewer?: string[];
  label?: string[];
  assignee?: string[];
  path?: string[];
  workflows?: boolean;
}

/** Adds the options; a list is given by repeating its option, and emptied by an empty text. */
export function addReviewOptions(command: Command): Command {
  return command
    .option('--forge-url <url>', "address of the forge, where it is not the root of the repository's server", readUrl)
    .option('--reviewer <login>', 'who is asked to review (repeatable; "" for nobody)', collect)
    .option('--label <name>', 'label of its pull requests (repeatable; "" for none)', collect)
    .option('--assignee <login>', 'who is assigned (repeatable; "" for nobody)', collect)
    .option('--path <glob>', 'what jobs may change, such as "docs/**" (repeatable; "" for everything)', collectGlob)
    .option('--workflows', 'let jobs change what the forge runs by itself, such as .github/workflows')
    .option('--no-workflows', 'do not let them (as it is without a word)');
}

/** The change that the options ask for. */
export function reviewOf({ forgeUrl, reviewer, label, assignee, path, workflows }: ReviewOptions): ProjectChange {
  return {
    ...(forgeUrl === undefined ? {} : { forgeUrl }),
    ...(reviewer === undefined ? {} : { reviewers: reviewer }),
    ...(label === undefined ? {} : { labels: label }),
    ...(assignee === undefined ? {} : { assignees: assignee }),
    ...(path === undefined ? {} : { allowedPaths: path }),
    ...(workflows === undefined ? {} : { mayChangeWorkflows: workflows }),
  };
}

function collect(text: string, earlier: string[] = []): string[] {
  const value = text.trim();
  if (value.length > 100 || /\p{Cc}/u.test(value))
    throw new InvalidArgumentError('It must have up to 100 characters, without control characters.');
  return value === '' ? [] : [...earlier, value];
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

/** An empty text: the root of the repository's server. */
function readUrl(text: string): string | null {
  if (text === '') return null;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('It must be an http:// or https:// address without a user name.');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
