/** Characters of a text that a view leaves out. */
interface Gap {
  /** Where the gap is in the view. */
  at: number;
  /** Where the characters left out are in the text. */
  start: number;
  end: number;
}

/**
 * A text with LF line endings and, if asked for, without blanks at line ends, together with the way back to the
 * offsets of the text itself.
 */
export interface TextView {
  text: string;
  original: string;
  gaps: Gap[];
}

const CARRIAGE_RETURN = /\r(?=\n)/g;
// The look-behind keeps a long run of blanks inside a line from being tried from each of its characters.
const CARRIAGE_RETURN_OR_BLANKS = /\r(?=\n)|(?<![ \t])[ \t]+(?=\r?\n|$)/g;

export function viewOf(original: string, { withoutBlanks }: { withoutBlanks: boolean }): TextView {
  const gaps: Gap[] = [];
  let removed = 0;
  const text = original.replaceAll(
    withoutBlanks ? CARRIAGE_RETURN_OR_BLANKS : CARRIAGE_RETURN,
    (match, start: number) => {
      gaps.push({ at: start - removed, start, end: start + match.length });
      removed += match.length;
      return '';
    },
  );
  return { text, original, gaps };
}

/** Where an offset of the text is in its view. */
export function offsetInView(view: TextView, offset: number): number {
  const index = firstGap(view.gaps, (gap) => gap.start >= offset) - 1;
  const before = view.gaps[index];
  if (before === undefined) return offset;
  return offset < before.end ? before.at : before.at + offset - before.end;
}

/** Where a region that begins here in the view begins in the text: blanks left out at this place belong to it. */
export function regionStart(view: TextView, offset: number): number {
  const at = firstGap(view.gaps, (gap) => gap.at >= offset);
  const gap = view.gaps[at];
  return gap !== undefined && gap.at === offset ? gap.start : originalOffset(view, at, offset);
}

/** Where a region that ends here in the view ends in the text: blanks belong to it, the line ending does not. */
export function regionEnd(view: TextView, offset: number): number {
  const at = firstGap(view.gaps, (gap) => gap.at >= offset);
  const gap = view.gaps[at];
  if (gap === undefined || gap.at !== offset) return originalOffset(view, at, offset);
  return view.original[gap.start] === '\r' ? gap.start : gap.end;
}

function originalOffset(view: TextView, gapsBefore: number, offset: number): number {
  const before = view.gaps[gapsBefore - 1];
  const original = before === undefined ? offset : before.end + offset - before.at;
  return Math.min(original, view.original.length);
}

/** The index of the first gap with a property that all later ones share; the number of gaps when none has it. */
function firstGap(gaps: Gap[], holds: (gap: Gap) => boolean): number {
  let low = 0;
  let high = gaps.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const gap = gaps[middle];
    if (gap !== undefined && holds(gap)) high = middle;
    else low = middle + 1;
  }
  return low;
}
