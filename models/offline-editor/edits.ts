import type { Command } from './grammar.ts';
import { cut } from './literals.ts';
import type { ToolResult, Transcript } from './transcript.ts';

export interface Task {
  /** Stable over all calls of a turn; the ids of its tool calls begin with it. */
  id: string;
  command: Command;
}

export interface ToolCall {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
}

/** The next move of a task: calls to make, or the result. */
export type Move =
  | { kind: 'calls'; calls: ToolCall[] }
  | { kind: 'done'; note: string }
  | { kind: 'failed'; note: string; isPartial: boolean };

/** The reason a command failed; partial when some files were changed. */
class NotDone extends Error {
  readonly isPartial: boolean;
  constructor(reason: string, isPartial = false) {
    super(reason);
    this.isPartial = isPartial;
  }
}

/** Yields the calls that have no result yet. Ends with a value when there are none. */
type Steps<Value> = Generator<ToolCall[], Value>;
type Tools = ReturnType<typeof toolsOf>;

function toolsOf(id: string, { resultOf, inputsOf }: Transcript) {
  /** Makes a call and returns its result. `name` identifies the call within the task; the final one is named `last`. */
  function* attempt(toolName: string, input: ToolCall['input'], name = toolName): Steps<ToolResult> {
    const call = { id: `${id}_${name}`, toolName, input };
    for (let result = resultOf(call.id); ; result = resultOf(call.id)) {
      if (result !== null) return result;
      yield [call];
    }
  }
  /** Makes a call that must succeed and returns its output. */
  function* call(...options: Parameters<typeof attempt>): Steps<string> {
    return outputOf(yield* attempt(...options));
  }
  return { id, resultOf, inputsOf, attempt, call };
}

/** Returns the next move of a task, derived only from the results of its earlier calls. */
export function nextMove({ id, command }: Task, transcript: Transcript): Move {
  try {
    // the earlier outputs that led to it may have been dropped from a long prompt
    const last = transcript.resultOf(`${id}_last`);
    if (last !== null) {
      outputOf(last);
      return { kind: 'done', note: '' };
    }
    const { done, value } = edits[command.kind](command, toolsOf(id, transcript)).next();
    return done === true ? { kind: 'done', note: value ?? '' } : { kind: 'calls', calls: value };
  } catch (error) {
    if (!(error instanceof NotDone)) throw error;
    return { kind: 'failed', note: error.message, isPartial: error.isPartial };
  }
}

/** Maximum number of reads to reach the end of a file. */
const maxReads = 8;

/** The steps of each command. A returned value is a note for the summary. */
const edits: Record<Command['kind'], (command: Command, tools: Tools) => Steps<string | void>> = {
  *replace({ path, old, new: next }, { call }) {
    if (old === next) throw new NotDone(nothingToChange);
    yield* call('read', { path });
    yield* call('edit', { path, old, new: next, replaceAll: true }, 'last');
  },

  /** Reads before it writes: an existing file is not changed. */
  *create({ path, text = '' }, { attempt, call }) {
    const found = yield* attempt('read', { path });
    if (!found.isError) throw new NotDone('the file exists already.');
    if (!found.text.includes('does not exist')) outputOf(found);
    yield* call('write', { path, content: asLines(text) }, 'last');
  },

  /** Appends after the last lines of the file, as many as it takes for them to be unique. */
  *append({ path, text = '' }, { call }) {
    if (text === '') throw new NotDone('there is no text to append.');
    let content = '';
    let offset: number | null = 1;
    for (let reads = 0; offset !== null; reads += 1) {
      if (reads === maxReads) throw new NotDone('the file is too long.');
      const window: string = yield* call('read', { path, offset }, `read${reads}`);
      content += `${window}\n`;
      offset = windowAfter(window);
    }
    if (/^The file is empty\.$/mu.test(content)) yield* call('write', { path, content: asLines(text) }, 'last');
    const old = endOf(content);
    if (old === null) throw new NotDone('the end of the file could not be found.');
    yield* call('edit', { path, old, new: `${old}\n${text.replace(/\n$/u, '')}` }, 'last');
  },

  /** Deletes a path, as a folder if the tool reports that it is one. */
  *delete({ path }, { attempt, call }) {
    const file = yield* attempt('delete', { path });
    if (!file.isError) return;
    if (!file.text.includes('recursive')) outputOf(file);
    yield* call('delete', { path, recursive: true }, 'last');
  },

  rename: ({ from, to }, { call }) => call('move', { from, to }, 'last'),
  run: ({ command }, { call }) => call('run', { command }, 'last'),

  /** Searches for some files, edits them, and continues the search after the last one, so that no file is visited twice. */
  *'replace-everywhere'({ old = '', new: next }, { id, resultOf, inputsOf, attempt }) {
    if (old === next) throw new NotDone(nothingToChange);
    const changed: string[] = [];
    const problems: string[] = [];
    let after: string | null = null;
    for (let round = 0; ; round += 1) {
      const input = { pattern: longestLine(old), literal: true, filesOnly: true, ...(after !== null && { after }) };
      const found: ToolResult = yield* attempt('grep', input, `grep${round}`);
      if (found.isError) throw notEverywhere(reasonOf(found.text), changed, problems);
      const { paths, goOnAfter, problem } = readFound(found.text);
      // the output of an older search may have been dropped; the edits that followed from it have not
      const made = inputsOf(`${id}_edit${round}_`).map(({ path }) => String(path));
      const calls = (made.length > 0 ? made : paths).map((path, index) => {
        const edit = { path, old, new: next, replaceAll: true };
        return { id: `${id}_edit${round}_${index}`, toolName: 'edit', input: edit, path };
      });
      const open = calls.filter((call) => resultOf(call.id) === null);
      if (open.length > 0) yield open;
      for (const call of calls) {
        const result = resultOf(call.id);
        if (result?.isError !== true) changed.push(call.path);
        // a file that contains one line of the text may not contain all of it
        else if (!old.includes('\n')) problems.push(`${call.path}: ${reasonOf(result.text)}`);
      }
      if (problem !== null) problems.push(problem);
      const isLast = goOnAfter === null || goOnAfter === after;
      if (isLast && inputsOf(`${id}_grep${round + 1}`).length === 0) break;
      after = goOnAfter;
    }
    if (problems.length > 0) throw notEverywhere('not everywhere.', changed, problems);
    if (changed.length === 0) throw new NotDone('the text was found in no file.');
    return changesOf(changed);
  },
};

const nothingToChange = 'both texts are the same, so there is nothing to change.';

function outputOf({ text, isError }: ToolResult): string {
  if (isError) throw new NotDone(reasonOf(text));
  return text;
}

/** Returns the first sentence of a tool's error, which says what is wrong. The rest is advice for the next call. */
function reasonOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const [sentence = ''] = line.split(/(?<=[.!?])\s+(?=\p{Lu})/u, 1);
  return cut(sentence, 200);
}

function notEverywhere(reason: string, changed: string[], problems: string[]): NotDone {
  const parts = [
    reason,
    ...(changed.length > 0 ? [changesOf(changed)] : []),
    ...(problems.length > 0 ? [`Not changed: ${listed(problems)}`] : []),
  ];
  return new NotDone(parts.join(' '), changed.length > 0);
}

function changesOf(changed: string[]): string {
  return `In ${changed.length} ${changed.length === 1 ? 'file' : 'files'}: ${listed(changed)}.`;
}

function listed(items: string[]): string {
  return `${items.slice(0, 10).join(', ')}${items.length > 10 ? ` and ${items.length - 10} more` : ''}`;
}

/** Ensures that a text ends with a line break. */
function asLines(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Returns the longest line, because the search matches line by line and limits the length of a pattern. */
function longestLine(text: string): string {
  const lines = text.split('\n').toSorted((a, b) => b.trim().length - a.trim().length);
  return (lines[0] ?? '').slice(0, 1_000).replace(/[\uD800-\uDBFF]$/u, '');
}

const searchNote = /^\[(?:There are more|The search took|Folders deeper|Not searched|The answer is cut)/u;
const cursor = /Go on with after ("(?:[^"\\]|\\.)*")\.\]$/u;
/** Matches the output of a search without results, and the placeholder for an old output in a long prompt. */
const noFiles = /^(?:No line matches |\[\d+ characters of an earlier )/u;

interface Found {
  paths: string[];
  /** Start of the next search; null when this one has covered everything it can. */
  goOnAfter: string | null;
  /** Files that the search skipped, as a phrase; null if it skipped none. */
  problem: string | null;
}

/** Parses the output of a search with `filesOnly`. */
function readFound(text: string): Found {
  const lines = text.split('\n').filter((line) => line !== '');
  const firstNote = lines.findIndex((line) => searchNote.test(line));
  const notes = firstNote === -1 ? [] : lines.splice(firstNote);
  const isCut = notes.some((line) => line.startsWith('[The answer is cut'));
  // the last path of a truncated output may be truncated itself
  const paths = noFiles.test(text) ? [] : lines.slice(0, isCut ? -1 : undefined);
  const goOn = notes.map((line) => cursor.exec(line)?.[1]).find((found) => found !== undefined);
  const missed = notes.filter((line) => !cursor.test(line) && !line.startsWith('[The answer is cut'));
  return {
    paths,
    goOnAfter: isCut ? (paths.at(-1) ?? null) : goOn === undefined ? null : String(JSON.parse(goOn)),
    problem: missed.length === 0 ? null : missed.map((line) => line.replace(/^\[|\.?\]$/gu, '')).join('; '),
  };
}

/** Returns the line at which to continue after a partial read of the file. */
function windowAfter(window: string): number | null {
  const offset = /^\[[^\n]*\boffset (\d+)/mu.exec(window)?.[1];
  return offset === undefined ? null : Number(offset);
}

/**
 * Returns the last lines of a file, as few as are unique in it and not only blank ones. Null when the file has none, or
 * when the reads left something out that no further read shows, such as the rest of a very long line.
 */
function endOf(content: string): string | null {
  const lines = content.split('\n').flatMap((line) => /^ *\d+\|([\s\S]*)$/u.exec(line)?.[1] ?? []);
  const text = lines.join('\n');
  if (text.trim() === '' || /^\[(?![^\n]*\boffset \d)/mu.test(content)) return null;
  for (let count = 1; ; count *= 2) {
    const end = lines.slice(-count).join('\n');
    const isUnique = end.trim() !== '' && text.indexOf(end) === text.length - end.length;
    if (isUnique || count >= lines.length) return end;
  }
}
