import type { Command } from './grammar.ts';
import { quote } from './literals.ts';
import { cut, reasonOf, type Move, type ToolCall } from './move.ts';
import { sweepMove } from './sweep.ts';
import { endOf, isIncomplete, readsOn, saysEmpty, saysMissing } from './tool-output.ts';
import type { ToolResult, Transcript } from './transcript.ts';

export interface Task {
  /** Stable over all calls of a turn; the ids of its tool calls begin with it. */
  id: string;
  command: Command;
}

type Results = Pick<Transcript, 'resultOf' | 'inputOf'>;

/** The next move of a task, derived from the results of its earlier calls alone. */
export function nextMove({ id, command }: Task, results: Results): Move {
  switch (command.kind) {
    case 'replace':
      return editAfterRead({ id, path: command.path, old: command.old, next: command.new, results });
    case 'replace-everywhere':
      return sweepMove({ id, from: command.old, to: command.new, ...results });
    case 'create':
      return createMove({ id, path: command.path, text: command.text, results });
    case 'append':
      return appendMove({ id, path: command.path, text: command.text, results });
    case 'delete':
      return deleteMove({ id, path: command.path, results });
    case 'rename':
      return singleCall({ id: `${id}_move`, toolName: 'move', input: { from: command.from, to: command.to } }, results);
    case 'run':
      return singleCall({ id: `${id}_run`, toolName: 'run', input: { command: command.command } }, results);
    default:
      return command satisfies never;
  }
}

/** The paths a command touches; null when it may touch any. */
export function pathsOf(command: Command): string[] | null {
  if (command.kind === 'replace-everywhere' || command.kind === 'run') return null;
  return command.kind === 'rename' ? [command.from, command.to] : [command.path];
}

/** The command as a person would write it, cut to one short line. */
export function describe(command: Command): string {
  switch (command.kind) {
    case 'replace':
      return `Replace ${short(command.old)} with ${short(command.new)} in ${command.path}`;
    case 'replace-everywhere':
      return `Replace ${short(command.old)} with ${short(command.new)} everywhere`;
    case 'create':
      return `Create ${command.path}`;
    case 'append':
      return `Append ${short(command.text)} to ${command.path}`;
    case 'delete':
      return `Delete ${command.path}`;
    case 'rename':
      return `Rename ${command.from} to ${command.to}`;
    case 'run':
      return `Run ${short(command.command)}`;
    default:
      return command satisfies never;
  }
}

function singleCall(call: ToolCall, { resultOf }: Results): Move {
  const result = resultOf(call.id);
  return result === null ? { kind: 'calls', calls: [call] } : endOfCall(result);
}

function endOfCall({ text, isError }: ToolResult): Move {
  return isError ? { kind: 'failed', note: reasonOf(text) } : { kind: 'done', note: '' };
}

interface FileMove {
  id: string;
  path: string;
  results: Results;
}

function editAfterRead({ id, path, old, next, results }: FileMove & { old: string; next: string }): Move {
  if (old === next) return { kind: 'failed', note: 'both texts are the same, so there is nothing to change.' };
  const read = singleCall({ id: `${id}_read`, toolName: 'read', input: { path } }, results);
  if (read.kind !== 'done') return read;
  const input = { path, old, new: next, replaceAll: true };
  return singleCall({ id: `${id}_edit`, toolName: 'edit', input }, results);
}

/** A folder is deleted when the tool says that it is one. */
function deleteMove({ id, path, results }: FileMove): Move {
  const file = singleCall({ id: `${id}_delete`, toolName: 'delete', input: { path } }, results);
  if (file.kind !== 'failed' || !file.note.includes('recursive')) return file;
  return singleCall({ id: `${id}_deleteall`, toolName: 'delete', input: { path, recursive: true } }, results);
}

/** Looks before it writes: a file that can be read exists already and is left alone. */
function createMove({ id, path, text, results }: FileMove & { text: string }): Move {
  const read = singleCall({ id: `${id}_read`, toolName: 'read', input: { path } }, results);
  if (read.kind === 'calls') return read;
  if (read.kind === 'done') return { kind: 'failed', note: 'the file exists already.' };
  if (!saysMissing(read.note)) return read;
  return singleCall({ id: `${id}_write`, toolName: 'write', input: { path, content: asLines(text) } }, results);
}

/** How many windows of a file are read on the way to its end. */
const maxReads = 8;

/** Appends after the last lines of the file, as many of them as make the place unique. */
function appendMove({ id, path, text, results }: FileMove & { text: string }): Move {
  if (text === '') return { kind: 'failed', note: 'there is no text to append.' };
  for (const callId of [`${id}_edit`, `${id}_write`]) {
    const result = results.resultOf(callId);
    if (result !== null) return endOfCall(result);
  }
  const windows: string[] = [];
  let offset: number | null = null;
  do {
    if (windows.length === maxReads) return { kind: 'failed', note: 'the file is too long.' };
    const input = offset === null ? { path } : { path, offset };
    const call: ToolCall = { id: `${id}_read${windows.length}`, toolName: 'read', input };
    const move = singleCall(call, results);
    if (move.kind !== 'done') return move;
    const window = results.resultOf(call.id)?.text ?? '';
    windows.push(window);
    offset = readsOn(window);
  } while (offset !== null);
  const content = windows.join('\n');
  const old = isIncomplete(content) ? null : endOf(content);
  if (old === null) {
    if (!saysEmpty(content)) return { kind: 'failed', note: 'the end of the file could not be found.' };
    return singleCall({ id: `${id}_write`, toolName: 'write', input: { path, content: asLines(text) } }, results);
  }
  const added = text.endsWith('\n') ? text.slice(0, -1) : text;
  return singleCall({ id: `${id}_edit`, toolName: 'edit', input: { path, old, new: `${old}\n${added}` } }, results);
}

/** Text files end with a line's end. */
function asLines(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function short(text: string): string {
  return quote(cut(text, 40));
}
