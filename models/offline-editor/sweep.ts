import { reasonOf, type Move, type ToolCall } from './move.ts';
import { parseHits } from './tool-output.ts';
import type { ToolResult, Transcript } from './transcript.ts';

interface Sweep extends Pick<Transcript, 'resultOf'> {
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
  const needsPlaceholder = first !== null && parseHits(first.text).isCut && sweep.to.includes(sweep.from);
  if (!needsPlaceholder) return endOf(sweepOnce(sweep));
  const placeholder = placeholderFor(sweep.from);
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

function sweepOnce({ id, from, to, resultOf }: Sweep): SweepState {
  const state: SweepState = { calls: [], changed: [], problems: [], isComplete: true };
  const seen = new Set<string>();
  for (let round = 0; round < maxRounds; round += 1) {
    const grepId = `${id}_grep${round}`;
    const found = resultOf(grepId);
    if (found === null) {
      state.calls = [{ id: grepId, toolName: 'grep', input: { pattern: longestLine(from), literal: true } }];
      return state;
    }
    const { files, isCut } = parseHits(found.text);
    const fresh = files.filter(({ path }) => !seen.has(path));
    if (fresh.length === 0) return { ...state, isComplete: !isCut || files.length === 0 };
    for (const { path } of fresh) seen.add(path);
    const reads = fresh.map(({ path, line }, index) => ({
      id: `${id}_read${round}_${index}`,
      toolName: 'read',
      input: { path, offset: Math.max(1, line - 5), limit: 11 },
    }));
    state.calls = unanswered(reads, resultOf);
    if (state.calls.length > 0) return state;
    const edits = fresh.map(({ path }, index) => ({
      id: `${id}_edit${round}_${index}`,
      toolName: 'edit',
      input: { path, old: from, new: to, replaceAll: true },
    }));
    state.calls = unanswered(edits, resultOf);
    if (state.calls.length > 0) return state;
    for (const { id: editId, input } of edits) {
      const result = resultOf(editId);
      if (result?.isError !== true) state.changed.push(input.path);
      // A file that holds one line of the text need not hold all of it.
      else if (!from.includes('\n')) state.problems.push(`${input.path}: ${reasonOf(result.text)}`);
    }
    if (!isCut) return state;
  }
  return { ...state, isComplete: false };
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

function unanswered(calls: ToolCall[], resultOf: (id: string) => ToolResult | null): ToolCall[] {
  return calls.filter(({ id }) => resultOf(id) === null);
}

/** Search works line by line. */
function longestLine(text: string): string {
  return text.split('\n').reduce((longest, line) => (line.trim().length > longest.trim().length ? line : longest));
}

/** A word that does not hold `text` and that no file is likely to hold. */
function placeholderFor(text: string): string {
  let hash = 2_166_136_261;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  const digits = `7305${hash}8164${hash}`;
  const letters = digits.replace(/\d/gu, (digit) => 'qzxjkvwyhg'.charAt(Number(digit)));
  return [letters, letters.toUpperCase()].find((candidate) => !candidate.includes(text)) ?? digits;
}
