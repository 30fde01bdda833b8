import { z } from 'zod';
import type { CommitHistory } from '../../workspaces/commit-history.ts';
import { GitError } from '../../git/git-error.ts';
import type { AgentTool, ToolContext } from '../agent-tool.ts';
import { defineTool } from '../define-tool.ts';
import { parseAgentPath, showPath } from '../files/agent-path.ts';
import { maxFileBytes } from '../edit/text-file.ts';
import { workOnFile } from '../files/file-work.ts';
import { maxLines } from '../files/show-file.ts';
import { maxOutputBytes } from '../tool-output.ts';
import { ToolProblem } from '../tool-problem.ts';
import { headOf } from '../clean-output.ts';
import { printable } from './printable.ts';
import { parseRef } from '../../../lib/inputs/ref.ts';

const maxRefLength = 300;
const ref = z.string().min(1).max(maxRefLength);
const path = z.string().describe('File or folder, relative to the root of the repository');
const commit = ref
  .default('HEAD')
  .describe('HEAD (the commit that the work started from), a branch, a tag or a commit id');

/** Room for the note that an output is longer. */
const maxBytes = maxOutputBytes - 1024;
const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '--no-show-signature', '--no-mailmap', '--date=short'];
/** Finding renames compares each removed file with each added one. */
const changes = ['--find-renames', '-l100', '--no-color', '--no-ext-diff', '--no-textconv'];

const logTool = defineTool({
  description:
    'Lists commits of the git history, newest first: id, date, author and first line. Give a path to see only the commits that changed it.',
  inputSchema: z.object({
    path: path.optional(),
    ref: commit,
    limit: z.int().min(1).max(200).default(20).describe('Number of commits'),
    message: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('Only commits whose message contains this text, in any case'),
  }),
  isReadOnly: true,
  run: withHistory(async ({ path: given, ref: named, limit, message }, history) => {
    const target = given === undefined ? [] : parseAgentPath(given).parts;
    const found = await findCommit(history, named);
    const search = message === undefined ? [] : ['--regexp-ignore-case', '--fixed-strings', `--grep=${message}`];
    const args = ['log', ...plain, '--format=%h %ad %an: %s', `--max-count=${limit}`, ...search, found];
    const text = await printed(history, target.length === 0 ? args : [...args, '--', target.join('/')]);
    return text === '' ? 'No commit matches.' : text;
  }),
});

const blameTool = defineTool({
  description:
    'Shows which commit last changed each line of a file: id, author, date, line number and text. The lines are those of the commit, without your changes.',
  inputSchema: z.object({
    path: path.describe('File, relative to the root of the repository'),
    ref: commit,
    offset: z.int().min(1).max(10_000_000).default(1).describe('First line, from 1'),
    limit: z.int().min(1).max(1_000).default(200).describe('Number of lines'),
  }),
  isReadOnly: true,
  run: withHistory(async ({ path: given, ref: named, offset, limit }, history) => {
    const found = await findCommit(history, named);
    const file = await fileAt(history, found, given);
    const lines = `${offset},+${limit}`;
    const { exitCode, text } = await print(history, ['blame', '--date=short', '-L', lines, found, '--', file.path]);
    if (exitCode !== 0) throw new ToolProblem(`${file.shown} has fewer than ${offset} lines in that commit.`);
    return text === '' ? `${file.shown} is empty.` : text;
  }),
});

const showTool = defineTool({
  description:
    'Shows a commit with its message and its change. A path limits the change to it; with `file`, shows the text that this file had in the commit instead.',
  inputSchema: z.object({
    ref: ref.describe(
      'HEAD (the commit that the work started from), a branch, a tag or a commit id; HEAD~1 is the one before',
    ),
    path: path.optional(),
    file: z.string().optional().describe('Show this file as it was in the commit, in the form of read'),
    offset: z.int().min(1).default(1).describe('With file: the first line to show, from 1'),
  }),
  isReadOnly: true,
  run: withHistory(async ({ ref: named, path: given, file: wanted, offset }, history, { signal }) => {
    const found = await findCommit(history, named);
    if (wanted !== undefined) {
      const { path: name, shown } = await fileAt(history, found, wanted);
      const { stdout, truncated } = await history.print(['cat-file', 'blob', `${found}:${name}`], maxFileBytes);
      if (truncated) throw new ToolProblem(`${shown} is larger than ${maxFileBytes} bytes, the most that tools open.`);
      const task = { shown, bytes: stdout, offset, limit: maxLines };
      return (await workOnFile('show', task, { length: stdout.length, signal })).text;
    }
    const format = '--format=commit %H%nauthor %an%ndate   %ad%n%n%w(0,4,4)%B';
    const args = ['show', ...plain, ...changes, '--first-parent', '--patch', '--stat=100', format, found];
    return printed(history, [...args, ...pathspec(given)]);
  }),
});

const diffTool = defineTool({
  description:
    'Shows the change between two commits as a patch. Without arguments, shows your own changes: from HEAD, the commit that the work started from, to the files as they are now.',
  inputSchema: z.object({
    from: commit,
    to: ref.optional().describe('A commit; the files as they are now if omitted'),
    path: path.optional(),
  }),
  isReadOnly: true,
  run: withHistory(async ({ from, to, path: given }, history) => {
    const before = await findCommit(history, from);
    const after = to === undefined ? await history.currentTree() : await findCommit(history, to);
    const args = ['diff-tree', '-r', '--patch', '--stat=100', ...changes, before, after, ...pathspec(given)];
    const text = await printed(history, args);
    return text === '' ? 'There is no difference.' : text;
  }),
});

/** The tools that read the history of the repository. Git runs on the worker, outside of the sandbox. */
export const historyTools = {
  log: logTool,
  blame: blameTool,
  show: showTool,
  diff: diffTool,
} as const satisfies Record<string, AgentTool>;

function withHistory<Input>(run: (input: Input, history: CommitHistory, context: ToolContext) => Promise<string>) {
  return async (input: Input, context: ToolContext): Promise<string> => {
    const { history } = context;
    if (history === undefined) throw new ToolProblem('There is no git history here.');
    try {
      return await run(input, history, context);
    } catch (error) {
      // a history that git cannot read in time, or at all, is no reason to end the job
      if (!(error instanceof GitError) || error.kind === 'aborted') throw error;
      throw new ToolProblem(`${error.message} Ask for less: give a path, or fewer lines or commits.`, { cause: error });
    }
  };
}

function pathspec(given: string | undefined): string[] {
  const parts = given === undefined ? [] : parseAgentPath(given).parts;
  return parts.length === 0 ? [] : ['--', parts.join('/')];
}

async function fileAt(history: CommitHistory, found: string, given: string): Promise<{ path: string; shown: string }> {
  const { parts, shown } = parseAgentPath(given);
  const name = parts.join('/');
  const type = name === '' ? 'tree' : await history.typeAt(found, name);
  if (type === 'blob') return { path: name, shown };
  throw new ToolProblem(type === null ? `${shown} does not exist in that commit.` : `${shown} is not a file.`);
}

async function printed(history: CommitHistory, args: readonly string[]): Promise<string> {
  const { exitCode, text } = await print(history, args);
  if (exitCode !== 0) throw new ToolProblem('git cannot read this part of the history.');
  return text;
}

/** Runs git, and returns what it prints with a note if that is longer than a tool's output may be. */
async function print(history: CommitHistory, args: readonly string[]): Promise<{ exitCode: number; text: string }> {
  const { stdout, truncated, exitCode } = await history.print(args, maxBytes);
  const text = printable(stdout.toString(), maxBytes);
  if (!truncated) return { exitCode, text: text.trimEnd() };
  return {
    exitCode: 0,
    text: `${headOf(text, text.length).trimEnd()}\n[The output is longer. Ask for less: give a path, or fewer lines or commits.]`,
  };
}

/** A commit as a model names it: `HEAD`, a branch, a tag or an id, and how many first parents before it. */
interface HistoryRef {
  name: string;
  generations: number;
}

const maxGenerations = 10_000;

/** Parses the name of a commit, optionally with `^` or `~N` at its end. Throws ToolProblem. */
function parseHistoryRef(text: string): HistoryRef {
  const [, name = '', steps] = /^([^~^]*)(?:\^|~(\d{1,5}))?$/.exec(text) ?? [];
  const generations = name === text ? 0 : Number(steps ?? 1);
  const parsed = parseRef(name);
  if (name !== '' && parsed.ok && generations <= maxGenerations) return { name, generations };
  const problem = name === '' || parsed.ok ? '' : ` ${parsed.problem}`;
  throw new ToolProblem(
    `${showPath(text.slice(0, 200))} does not name a commit.${problem} Name HEAD, a branch, a tag or a commit id, ` +
      `optionally followed by ^ or ~N.`,
  );
}

/** Returns the id of the commit that a model names. Throws ToolProblem when the repository's history has none. */
async function findCommit(history: CommitHistory, text: string): Promise<string> {
  const { name, generations } = parseHistoryRef(text);
  const commit = name === 'HEAD' ? history.baseCommit : await history.find(name);
  const found = commit === null || generations === 0 ? commit : await history.ancestor(commit, generations);
  if (found !== null) return found;
  throw new ToolProblem(
    `No branch or tag of the repository has the commit ${showPath(text)}. HEAD is the commit that this work started from.`,
  );
}
