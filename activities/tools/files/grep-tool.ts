import { setImmediate as nextTurn } from 'node:timers/promises';
import { RE2JS, RE2JSException } from 're2js';
import { z } from 'zod';
import { agentPathOf, parseAgentPath, type AgentPath } from './agent-path.ts';
import { openFolder, resolveLinks, statIn, type Folder } from './beneath.ts';
import { defineTool } from '../define-tool.ts';
import { readIn, splitPath } from './files.ts';
import { compileGlob } from './glob-pattern.ts';
import { decodeText } from '../edit/text-file.ts';
import { ToolProblem } from '../tool-problem.ts';
import type { ToolContext } from '../agent-tool.ts';
import { ignoredNote, namesText, walkNote, walkTree } from './walk-tree.ts';

const maxHits = 100;
const maxHitsPerFile = 10;
const maxFiles = 200;
const maxShownCharacters = 200;
const maxLineCharacters = 100_000;
const maxSearchMs = 20_000;
const charactersPerTurn = 200_000;
/** Cost of a line in addition to its characters; empty lines are matched, too. */
const lineCost = 20;

const inputSchema = z.object({
  pattern: z
    .string()
    .min(1)
    .max(1_000)
    .describe('Regular expression (RE2: no look-around, no back-references), matched within one line'),
  path: z.string().default('.').describe('Folder or file to look in (default: the whole repository)'),
  glob: z.string().optional().describe('Only files that match this glob, e.g. "*.ts"; "!*.test.ts" excludes files'),
  ignoreCase: z.boolean().default(false).describe('Ignore case'),
  literal: z.boolean().default(false).describe('Treat the pattern as plain text instead of a regular expression'),
  filesOnly: z
    .boolean()
    .default(false)
    .describe(`List only the paths of files with a match, one per line, at most ${maxFiles}`),
  after: z.string().optional().describe('Only files after this path, to continue a truncated result'),
});

export const grepTool = defineTool({
  description:
    `Searches the lines of text files. Lists "path:line: text" for each match, at most ${maxHitsPerFile} per file and ` +
    `${maxHits} in all, with long lines truncated; or only the paths of the files. Binary files, and what git ignores unless path names it, are skipped.`,
  inputSchema,
  isReadOnly: true,
  async run({ pattern, path, glob, ignoreCase, literal, filesOnly, after }, context) {
    const start = parseAgentPath(path);
    const search: Search = {
      expression: compilePattern(pattern, { ignoreCase, literal }),
      fits: glob === undefined ? () => true : compileGlob(glob),
      maskSecrets: context.maskSecrets ?? String,
      signal: context.signal,
      filesOnly,
      after: after === undefined ? null : parseAgentPath(after).parts,
      endAt: Date.now() + maxSearchMs,
      hits: [],
      shown: 0,
      seen: 0,
      last: null,
      skipped: [],
      ignored: [],
      note: '',
    };
    await searchPath(search, context, start);
    const notes = search.note + skippedNote(search.skipped);
    const none = `No line matches ${pattern}.${missNote(pattern, literal)}${ignoredNote(search.ignored)}`;
    return (search.hits.length === 0 ? none : search.hits.join('\n')) + notes;
  },
});

interface Search {
  expression: RE2JS;
  maskSecrets(text: string): string;
  fits(path: string): boolean;
  signal: AbortSignal;
  endAt: number;
  filesOnly: boolean;
  /** The parts of the path after which the search starts. */
  after: readonly string[] | null;
  hits: string[];
  shown: number;
  /** Characters since the event loop last had a turn. */
  seen: number;
  /** The last file that needs no further search. */
  last: string | null;
  /** Files that could not be opened, or not be searched completely. */
  skipped: string[];
  /** Paths that ignore rules cover. */
  ignored: string[];
  /** Why the search is incomplete; empty otherwise. */
  note: string;
}

function compilePattern(pattern: string, { ignoreCase, literal }: { ignoreCase: boolean; literal: boolean }): RE2JS {
  const source = literal ? RE2JS.quote(pattern) : RE2JS.translateRegExp(pattern);
  try {
    return RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new ToolProblem(`The pattern is not valid: ${error.message}. For plain text, set literal.`, { cause: error });
  }
}

/** Returns what may have kept a pattern from matching; empty for plain words. */
function missNote(pattern: string, literal: boolean): string {
  if (pattern.includes('\n') || (!literal && pattern.includes('\\n')))
    return ' A pattern matches within one line, so one with a line break finds nothing.';
  if (literal || !/[()[\]{}*+?$]/.test(pattern)) return '';
  return ' The pattern is a regular expression; for plain text, set literal.';
}

async function searchPath(
  search: Search,
  { root, signal, ignoredPaths }: ToolContext,
  start: AgentPath,
): Promise<void> {
  const resolved = await resolveLinks(root, start);
  if (resolved.parts.length > 0) {
    const { parent, name } = splitPath(resolved);
    await using folder = await openFolder(root, parent);
    if (!(await statIn(folder, name))?.isDirectory()) {
      await searchFile(search, { folder, name, path: start.parts.join('/') });
      return;
    }
  }
  const prefix = start.parts.length === 0 ? 0 : start.parts.join('/').length + 1;
  const end = await walkTree({
    root,
    start,
    signal,
    ignoredPaths,
    async visit({ path, name, kind, isIgnored, folder }) {
      if (isIgnored) {
        search.ignored.push(path);
        return true;
      }
      const isWanted = kind === 'file' && search.fits(path.slice(prefix)) && comesAfter(path, search.after);
      if (isWanted) await searchListed(search, { folder, name, path });
      return search.note === '';
    },
  });
  search.note ||= walkNote(end);
}

/** Reports whether a walk reaches a file later than another one. */
function comesAfter(path: string, after: readonly string[] | null): boolean {
  if (after === null) return true;
  const parts = path.split('/');
  const different = parts.findIndex((part, index) => part !== after[index]);
  if (different === -1) return false;
  const other = after[different];
  return other === undefined || (parts[different] ?? '') > other;
}

/** Skips a file that cannot be opened (too large, unreadable, gone). */
async function searchListed(search: Search, file: { folder: Folder; name: string; path: string }): Promise<void> {
  try {
    await searchFile(search, file);
  } catch (error) {
    if (!(error instanceof ToolProblem)) throw error;
    search.skipped.push(file.path);
  }
}

/** Returns the end of a truncated output: where the next search continues. */
function goOnNote(reason: string, { last }: Search): string {
  return `\n[${reason}${last === null ? '' : ` Go on with after ${JSON.stringify(last)}.`}]`;
}

function skippedNote(paths: string[]): string {
  if (paths.length === 0) return '';
  return `\n[Not searched completely because of size or permissions: ${namesText(paths)}]`;
}

async function searchFile(search: Search, { folder, name, path }: { folder: Folder; name: string; path: string }) {
  const shown = agentPathOf(path.split('/')).shown;
  const text = decodeText((await readIn(folder, name, shown)).bytes)?.text;
  if (text === undefined) return;
  let hits = 0;
  let isWhole = true;
  if (search.filesOnly && search.shown === maxFiles) {
    search.note = goOnNote('There are more files.', search);
    return;
  }
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    search.seen += line.length + lineCost;
    if (search.seen > charactersPerTurn) {
      search.seen = 0;
      await nextTurn();
      search.signal.throwIfAborted();
      if (Date.now() > search.endAt) search.note = goOnNote('The search took too long and was stopped.', search);
      if (search.note !== '') return;
    }
    const searched = line.slice(0, maxLineCharacters);
    if (!search.expression.test(searched)) {
      isWhole &&= searched.length === line.length;
      continue;
    }
    if (search.filesOnly) {
      search.shown += 1;
      search.hits.push(shown);
      search.last = path;
      return;
    }
    if (hits === maxHitsPerFile) {
      search.hits.push(`${shown}: more matches in this file are not shown`);
      search.last = path;
      return;
    }
    if (search.shown === maxHits) {
      search.note = goOnNote(`There are more than the ${maxHits} matches shown; narrow the search.`, search);
      return;
    }
    hits += 1;
    search.shown += 1;
    search.hits.push(`${shown}:${number}: ${excerpt(search, searched)}`);
  }
  search.last = path;
  if (!isWhole) search.skipped.push(path);
}

/** Yields one line at a time, without its line ending: a list of millions of them would block the event loop. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    yield text.slice(from, at > from && text[at - 1] === '\r' ? at - 1 : at);
    from = at + 1;
  }
  yield text.slice(from);
}

/** Returns a line, or the part of a long one around the match. Masked before, as part of a secret is not recognized. */
function excerpt({ expression, maskSecrets }: Search, line: string): string {
  if (line.length <= maxShownCharacters) return line;
  const whole = maskSecrets(line);
  const matcher = expression.matcher(whole);
  const hit = matcher.find() ? matcher.start() : 0;
  const from = Math.max(0, Math.min(hit - 50, whole.length - maxShownCharacters));
  return whole.slice(from, from + maxShownCharacters);
}
