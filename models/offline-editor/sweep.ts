import { reasonOf, type Move, type ToolCall } from './move.ts';
import { parseFiles } from './tool-output.ts';
import type { ToolResult, Transcript } from './transcript.ts';

interface Sweep extends Pick<Transcript, 'resultOf' | 'inputOf'> {
  id: string;
  from: string;
  to: string;
}

interface Swept {
  changed: string[];
  /** What was not done, a phrase for each. */
  problems: string[];
}

/**
 * Replaces a text in every file that holds it: search for a batch of files, edit them, and search on behind the last one, so
 * that no file is looked at twice.
 */
export function sweepMove(sweep: Sweep): Move {
  const { id, from, to, resultOf, inputOf } = sweep;
  if (from === to) return { kind: 'failed', note: 'both texts are the same, so there is nothing to change.' };
  const swept: Swept = { changed: [], problems: [] };
  let after: string | null = null;
  for (let round = 0; ; round += 1) {
    const search = searchCall(sweep, round, after);
    const found = resultOf(search.id);
    if (found === null) return { kind: 'calls', calls: [search] };
    if (found.isError) return failed(reasonOf(found.text), swept);
    const { goOnAfter, problem } = parseFiles(found.text);
    const edits = editsOf(sweep, round, found);
    const unanswered = edits.filter((call) => resultOf(call.id) === null);
    if (unanswered.length > 0) return { kind: 'calls', calls: unanswered };
    for (const edit of edits) note(swept, sweep, edit);
    if (problem !== null) swept.problems.push(problem);
    const hasMore = goOnAfter !== null && goOnAfter !== after;
    if (!hasMore && inputOf(`${id}_grep${round + 1}`) === null) return endOf(swept);
    after = goOnAfter;
  }
}

function searchCall({ id, from, inputOf }: Sweep, round: number, after: string | null): ToolCall {
  const callId = `${id}_grep${round}`;
  const made = inputOf(callId);
  const input = { pattern: longestLine(from), literal: true, filesOnly: true, ...(after !== null && { after }) };
  return { id: callId, toolName: 'grep', input: typeof made === 'object' && made !== null ? { ...made } : input };
}

/** The edits of a round: those that were made, or else one for each file that the search found. */
function editsOf({ id, from, to, inputOf }: Sweep, round: number, found: ToolResult): ToolCall[] {
  const idOf = (index: number) => `${id}_edit${round}_${index}`;
  const made: ToolCall[] = [];
  for (;;) {
    const input = inputOf(idOf(made.length));
    if (typeof input !== 'object' || input === null) break;
    made.push({ id: idOf(made.length), toolName: 'edit', input: { ...input } });
  }
  if (made.length > 0) return made;
  return parseFiles(found.text).paths.map((path, index) => {
    return { id: idOf(index), toolName: 'edit', input: { path, old: from, new: to, replaceAll: true } };
  });
}

function note({ changed, problems }: Swept, { from, resultOf }: Sweep, { id, input }: ToolCall): void {
  const result = resultOf(id);
  const path = String(input['path']);
  if (result?.isError !== true) changed.push(path);
  // a file that holds one line of the text need not hold all of it
  else if (!from.includes('\n')) problems.push(`${path}: ${reasonOf(result.text)}`);
}

function endOf(swept: Swept): Move {
  if (swept.problems.length > 0) return failed('not everywhere.', swept);
  if (swept.changed.length === 0) return failed('the text was found in no file.', swept);
  return { kind: 'done', note: changesOf(swept).join(' ') };
}

function failed(reason: string, swept: Swept): Move {
  return { kind: 'failed', note: [reason, ...changesOf(swept)].join(' '), isPartial: swept.changed.length > 0 };
}

function changesOf({ changed, problems }: Swept): string[] {
  const noun = changed.length === 1 ? 'file' : 'files';
  return [
    ...(changed.length === 0 ? [] : [`In ${changed.length} ${noun}: ${listed(changed)}.`]),
    ...(problems.length === 0 ? [] : [`Not changed: ${listed(problems)}`]),
  ];
}

function listed(items: string[]): string {
  const shown = items.slice(0, 10).join(', ');
  return items.length > 10 ? `${shown} and ${items.length - 10} more` : shown;
}

/** Search works line by line, and takes a pattern of limited length. */
function longestLine(text: string): string {
  const line = text
    .split('\n')
    .reduce((longest, line) => (line.trim().length > longest.trim().length ? line : longest));
  return line.slice(0, 1_000).replace(/[\uD800-\uDBFF]$/u, '');
}
