import { reasonOf, type Move, type ToolCall } from './move.ts';
import { parseHits } from './tool-output.ts';
import type { ToolResult, Transcript } from './transcript.ts';

interface Sweep extends Pick<Transcript, 'resultOf' | 'inputOf'> {
  id: string;
  from: string;
  to: string;
}

interface SweepState {
  calls: ToolCall[];
  changed: string[];
  problems: string[];
  isComplete: boolean;
}

/** A search shows a part of what it finds, so it is repeated; this many times at most. */
const maxRounds = 60;

/**
 * Replaces a text in every file that holds it: search, read, edit, and search again while a search was cut short.
 * When the new text holds the old one, a repeated search would show the same files for ever; then a placeholder takes
 * the place of the old text in all files first.
 */
export function sweepMove(sweep: Sweep): Move {
  if (sweep.from === sweep.to)
    return { kind: 'failed', note: 'both texts are the same, so there is nothing to change.' };
  const first = sweep.resultOf(`${sweep.id}_grep0`);
  if (first?.isError === true) return { kind: 'failed', note: reasonOf(first.text) };
  const placeholder = placeholderFor(sweep.from);
  if (!usesPlaceholder(sweep, first, placeholder)) return endOf(sweepOnce(sweep));
  const away = sweepOnce({ ...sweep, to: placeholder });
  if (away.calls.length > 0) return endOf(away);
  const back = sweepOnce({ ...sweep, id: `${sweep.id}_back`, from: placeholder });
  if (back.calls.length > 0) return endOf(back);
  return endOf({
    ...back,
    problems: [...away.problems, ...back.problems],
    isComplete: away.isComplete && back.isComplete,
  });
}

function usesPlaceholder({ id, from, to, inputOf }: Sweep, first: ToolResult | null, placeholder: string): boolean {
  const edit = inputOf(`${id}_edit0_0`);
  if (typeof edit === 'object' && edit !== null && 'new' in edit) return edit.new === placeholder;
  return first !== null && to.includes(from) && parseHits(first.text).isCut;
}

function sweepOnce(sweep: Sweep): SweepState {
  const { id, from, to, resultOf, inputOf } = sweep;
  const state: SweepState = { calls: [], changed: [], problems: [], isComplete: true };
  const seen = new Set<unknown>();
  for (let round = 0; round < maxRounds; round += 1) {
    const found = resultOf(`${id}_grep${round}`);
    if (found === null) {
      const input = { pattern: longestLine(from), literal: true };
      return { ...state, calls: [{ id: `${id}_grep${round}`, toolName: 'grep', input }] };
    }
    const { isCut } = parseHits(found.text);
    const reads = readsOf({ sweep, round, found, seen });
    if (reads.length === 0) return { ...state, isComplete: !isCut };
    for (const { input } of reads) seen.add(input['path']);
    const edits = reads.map(({ input }, index) => ({
      id: `${id}_edit${round}_${index}`,
      toolName: 'edit',
      input: { path: String(input['path']), old: from, new: to, replaceAll: true },
    }));
    for (const calls of [reads, edits]) {
      const unanswered = calls.filter((call) => resultOf(call.id) === null);
      if (unanswered.length > 0) return { ...state, calls: unanswered };
    }
    for (const { id: editId, input } of edits) {
      const result = resultOf(editId);
      if (result?.isError !== true) state.changed.push(input.path);
      // A file that holds one line of the text need not hold all of it.
      else if (!from.includes('\n')) state.problems.push(`${input.path}: ${reasonOf(result.text)}`);
    }
    if (!isCut && inputOf(`${id}_grep${round + 1}`) === null) return state;
  }
  return { ...state, isComplete: false };
}

interface Round {
  sweep: Sweep;
  round: number;
  found: ToolResult;
  seen: Set<unknown>;
}

/** The reads of a round: those that were made, or else one for each new file that the search found. */
function readsOf({ sweep: { id, inputOf }, round, found, seen }: Round): ToolCall[] {
  const idOf = (index: number) => `${id}_read${round}_${index}`;
  const made: ToolCall[] = [];
  for (;;) {
    const input = inputOf(idOf(made.length));
    if (typeof input !== 'object' || input === null || !('path' in input)) break;
    made.push({ id: idOf(made.length), toolName: 'read', input: { ...input } });
  }
  if (made.length > 0) return made;
  const fresh = parseHits(found.text).files.filter(({ path }) => !seen.has(path));
  return fresh.map(({ path, line }, index) => {
    return { id: idOf(index), toolName: 'read', input: { path, offset: Math.max(1, line - 1), limit: 3 } };
  });
}

function endOf({ calls, changed, problems, isComplete }: SweepState): Move {
  if (calls.length > 0) return { kind: 'calls', calls };
  const caveat = isComplete ? '' : ' The search was cut short, so there may be more of it.';
  const failed = problems.length === 0 ? '' : ` Not changed: ${listed(problems)}.`;
  if (changed.length === 0) return { kind: 'failed', note: `the text was found in no file.${failed}${caveat}` };
  const noun = changed.length === 1 ? 'file' : 'files';
  return { kind: 'done', note: `in ${changed.length} ${noun}: ${listed(changed)}.${failed}${caveat}` };
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

/** A word that does not hold `text` and that no file is likely to hold. */
function placeholderFor(text: string): string {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  const digits = `7305${hash}8164${hash}`;
  const letters = digits.replace(/\d/gu, (digit) => 'qzxjkvwyhg'.charAt(Number(digit)));
  return [letters, letters.toUpperCase()].find((candidate) => !candidate.includes(text)) ?? digits;
}
