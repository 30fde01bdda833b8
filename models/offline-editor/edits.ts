import type { Command } from './grammar.ts';
import { cut } from './literals.ts';
import type { ToolResult, Transcript } from './transcript.ts';

export interface ToolCall {
  id: string;
  toolName: string;
  input: Record<string, unknown>;
}

/** The next calls of a command; when there are none, how it ended. */
export interface Move {
  calls: ToolCall[];
  isDone: boolean;
  /** Whether something was changed, or may be by the calls. */
  isBegun: boolean;
  /** What was done, or why it was not. */
  note: string;
}

/** Ends the steps of a command before their end: at calls that have no result yet, or because it failed. */
class Unfinished extends Error {
  readonly calls: ToolCall[];
  readonly isBegun: boolean;
  constructor(reason: string, calls: ToolCall[] = [], isBegun = calls.length > 0) {
    super(reason);
    this.calls = calls;
    this.isBegun = isBegun;
  }
}

type Tools = ReturnType<typeof toolsOf>;

function toolsOf(id: string, transcript: Transcript) {
  /** Makes calls that may run together and returns their results. */
  function attemptAll(calls: ToolCall[]): ToolResult[] {
    const open = calls.filter((call) => transcript.resultOf(call.id) === null);
    if (open.length > 0) throw new Unfinished('', open);
    return calls.flatMap((call) => transcript.resultOf(call.id) ?? []);
  }
  /** Makes a call. `name` identifies it within the command; the final one is named `last`. */
  function attempt(toolName: string, input: ToolCall['input'], name = toolName) {
    const [result = { text: '', isError: false }] = attemptAll([{ id: `${id}_${name}`, toolName, input }]);
    return result;
  }
  /** Makes a call that must succeed and returns its output. */
  function call(...options: Parameters<typeof attempt>): string {
    return outputOf(attempt(...options));
  }
  return { id, attemptAll, attempt, call, inputsOf: (names: string) => transcript.inputsOf(`${id}_${names}`) };
}

/**
 * Returns the next move of a command, derived only from the results of its earlier calls. The ids of its calls begin
 * with `id`, which must be stable over all calls of a turn.
 */
export function nextMove({ id, command }: { id: string; command: Command }, transcript: Transcript): Move {
  try {
    // the earlier outputs that led to it may have been dropped from a long prompt
    const last = transcript.resultOf(`${id}_last`);
    if (last !== null) outputOf(last);
    const note = last === null ? edits[command.kind](command, toolsOf(id, transcript)) : '';
    return { calls: [], isDone: true, isBegun: true, note };
  } catch (error) {
    if (!(error instanceof Unfinished)) throw error;
    const { calls, isBegun, message } = error;
    return { calls, isDone: false, isBegun, note: message };
  }
}

/** Maximum number of reads to reach the end of a file. */
const maxReads = 8;

/** The steps of each command. One without a final call returns a note for the summary. */
const edits: Record<Command['kind'], (command: Command, tools: Tools) => string> = {
  replace({ path, old, new: next }, { call }) {
    if (old === next) throw new Unfinished(nothingToChange);
    call('read', { path });
    return call('edit', { path, old, new: next, replaceAll: true }, 'last');
  },

  /** Reads before it writes: an existing file is not changed. */
  create({ path, text = '' }, { attempt, call }) {
    const found = attempt('read', { path });
    if (!found.isError) throw new Unfinished('the file exists already.');
    if (!found.text.includes('does not exist')) outputOf(found);
    return call('write', { path, content: asLines(text) }, 'last');
  },

  /** Appends after the last lines of the file, as many as it takes for them to be unique. */
  append({ path, text = '' }, { call }) {
    if (text === '') throw new Unfinished('there is no text to append.');
    let content = '';
    let offset = 1;
    for (let reads = 0; !Number.isNaN(offset); reads += 1) {
      if (reads === maxReads) throw new Unfinished('the file is too long.');
      const window = call('read', { path, offset }, `read${reads}`);
      content += `${window}\n`;
      offset = Number(/^\[.*\boffset (\d+)/mu.exec(window)?.[1]);
    }
    if (/^The file is empty\.$/mu.test(content)) return call('write', { path, content: asLines(text) }, 'last');
    const old = endOf(content);
    return call('edit', { path, old, new: `${old}\n${text.replace(/\n$/u, '')}` }, 'last');
  },

  /** Deletes a path, as a folder if the tool reports that it is one. */
  delete({ path }, { attempt, call }) {
    const file = attempt('delete', { path });
    if (!file.isError) return '';
    if (!file.text.includes('recursive')) outputOf(file);
    return call('delete', { path, recursive: true }, 'last');
  },

  rename: ({ from, to }, { call }) => call('move', { from, to }, 'last'),
  run: ({ command }, { call }) => call('run', { command }, 'last'),

  /** Searches for some files, edits them, and continues the search after the last one, so that no file is visited twice. */
  'replace-everywhere'({ old = '', new: next }, { id, attemptAll, attempt, inputsOf }) {
    if (old === next) throw new Unfinished(nothingToChange);
    const changed: string[] = [];
    const problems: string[] = [];
    let after: string | undefined;
    let round = 0;
    do {
      const input = { pattern: longestLine(old), literal: true, filesOnly: true, after };
      const search = readFound(attempt('grep', input, `grep${round}`));
      // the output of an older search may have been dropped; the edits that followed from it have not
      const made = inputsOf(`edit${round}_`).map(({ path }) => String(path));
      const paths = made.length > 0 ? made : search.paths;
      const results = attemptAll(
        paths.map((path, index) => {
          const edit = { path, old, new: next, replaceAll: true };
          return { id: `${id}_edit${round}_${index}`, toolName: 'edit', input: edit };
        }),
      );
      for (const [index, path] of paths.entries()) {
        const result = results[index];
        if (result?.isError !== true) changed.push(path);
        // a file that contains one line of the text may not contain all of it
        else if (!old.includes('\n')) problems.push(`${path}: ${reasonOf(result.text)}`);
      }
      problems.push(...search.problems);
      after = search.next;
      round += 1;
    } while (after !== undefined || inputsOf(`grep${round}`).length > 0);
    const changes = `In ${changed.length} ${changed.length === 1 ? 'file' : 'files'}: ${listed(changed)}.`;
    if (problems.length > 0) {
      const partly = changed.length > 0 ? ` ${changes}` : '';
      throw new Unfinished(`not everywhere.${partly} Not changed: ${listed(problems)}`, [], changed.length > 0);
    }
    if (changed.length === 0) throw new Unfinished('the text was found in no file.');
    return changes;
  },
};

const nothingToChange = 'both texts are the same, so there is nothing to change.';

function outputOf({ text, isError }: ToolResult): string {
  if (isError) throw new Unfinished(reasonOf(text));
  return text;
}

/** Returns the first sentence of a tool's error, which says what is wrong. The rest is advice for the next call. */
function reasonOf(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const [sentence = ''] = line.split(/(?<=[.!?])\s+(?=\p{Lu})/u, 1);
  return cut(sentence, 200);
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

const searchNote = /^\[(?:There are more|The search took|Folders deeper|Not searched completely|The answer is cut)/u;
const cursor = /Go on with after ("(?:[^"\\]|\\.)*")\.\]$/mu;
/** Matches the output of a search without results, and the placeholder for an old output in a long prompt. */
const noFiles = /^(?:No line matches |\[\d+ characters of an earlier )/u;

/** Reads the output of a search with `filesOnly`: the paths, where the next one starts, and what was not searched. */
function readFound({ text, isError }: ToolResult) {
  if (isError) return { paths: [], next: undefined, problems: [reasonOf(text)] };
  const lines = text.split('\n').filter((line) => line !== '');
  const skipped = lines.filter((line) => searchNote.test(line) && !cursor.test(line));
  const next = cursor.exec(text)?.[1];
  return {
    paths: noFiles.test(text) ? [] : lines.filter((line) => !searchNote.test(line)),
    next: next === undefined ? undefined : String(JSON.parse(next)),
    problems: skipped.map((line) => line.replace(/^\[|\.?\]$/gu, '')),
  };
}

/** Returns the last lines of a file, as few as are unique in it and not only blank ones. */
function endOf(content: string): string {
  const lines = content.split('\n').flatMap((line) => /^ *\d+\|([\s\S]*)$/u.exec(line)?.[1] ?? []);
  const text = lines.join('\n');
  // the reads may leave out something that no further read shows, such as the rest of a very long line
  if (text.trim() === '' || /^\[(?![^\n]*\boffset \d)/mu.test(content))
    throw new Unfinished('the end of the file could not be found.');
  for (let count = 1; ; count *= 2) {
    const end = lines.slice(-count).join('\n');
    const isUnique = end.trim() !== '' && text.indexOf(end) === text.length - end.length;
    if (isUnique || count >= lines.length) return end;
  }
}
