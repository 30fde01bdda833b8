/** Characters of a text that a view omits. */
interface Gap {
  /** Position of the gap in the view. */
  at: number;
  /** Position of the omitted characters in the text. */
  start: number;
  end: number;
}

/**
 * A text with LF line endings and, on request, without whitespace at line ends, with the mapping back to offsets of the
 * text.
 */
export interface TextView {
  text: string;
  original: string;
  gaps: Gap[];
}

const carriageReturn = /\r(?=\n)/g;
// The look-behind prevents a long run of whitespace inside a line from being tried from each of its characters.
const carriageReturnOrBlanks = /\r(?=\n)|(?<![ \t])[ \t]+(?=\r?\n|$)/g;

export function viewOf(original: string, { withoutBlanks }: { withoutBlanks: boolean }): TextView {
  const gaps: Gap[] = [];
  let removed = 0;
  const text = original.replaceAll(withoutBlanks ? carriageReturnOrBlanks : carriageReturn, (match, start: number) => {
    gaps.push({ at: start - removed, start, end: start + match.length });
    removed += match.length;
    return '';
  });
  return { text, original, gaps };
}

/** Returns the position in the view of an offset of the text. */
export function offsetInView(view: TextView, offset: number): number {
  const index = firstGap(view.gaps, (gap) => gap.start >= offset) - 1;
  const before = view.gaps[index];
  if (before === undefined) return offset;
  return offset < before.end ? before.at : before.at + offset - before.end;
}

/**
 * Returns where in the text a region starts that starts here in the view: omitted whitespace at this position belongs
 * to it.
 */
export function regionStart(view: TextView, offset: number): number {
  const at = firstGap(view.gaps, (gap) => gap.at >= offset);
  const gap = view.gaps[at];
  return gap !== undefined && gap.at === offset ? gap.start : originalOffset(view, at, offset);
}

/**
 * Returns where in the text a region ends that ends here in the view: whitespace belongs to it, the line ending does
 * not.
 */
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

/**
 * Returns the index of the first gap with a property that all later ones share; the number of gaps when none has it.
 */
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
