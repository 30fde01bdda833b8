import { compact, formsOf, gap, type SecretForm } from './known-forms.ts';
import { mark } from './mark.ts';
import { createFragmentSearch } from './secret-fragments.ts';

/** A range: the start is inclusive, the end exclusive. */
type Range = [number, number];

const nextGap = new RegExp(gap, 'y');

/**
 * Returns a function that redacts the given secrets from a text, in any of their written forms, including with line
 * breaks and blanks between their characters. A text that contains none of them is only searched, which is cheap.
 */
export function createKnownScrubber(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.flatMap(formsOf);
  const fragmentsIn = createFragmentSearch(secrets);
  return (text) => {
    const tight = compact(text);
    const inTight = tight.length === text.length ? [] : rangesOf(tight, forms);
    const ranges = [
      ...rangesOf(text, forms),
      ...fragmentsIn(text),
      ...(inTight.length === 0 ? [] : positionedIn(text, inTight)),
    ];
    return ranges.length === 0 ? text : without(text, ranges);
  };
}

function rangesOf(text: string, forms: SecretForm[]): Range[] {
  const ranges: Range[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form.text); at !== -1;) {
      const range = grown(text, [at, at + form.text.length], form);
      ranges.push(range);
      at = text.indexOf(form.text, range[1]);
    }
  }
  return ranges;
}

/** Extends a match on a part of a secret over the rest of the truncated secret. */
function grown(text: string, [from, to]: Range, { text: part, partOf }: SecretForm): Range {
  if (partOf === undefined) return [from, to];
  const { whole, end } = partOf;
  const most = whole.length - part.length;
  let more = 0;
  if (end === 'head') {
    while (more < most && text[to + more] === whole[part.length + more]) more += 1;
    return [from, to + more];
  }
  while (more < most && from > more && text[from - more - 1] === whole[most - more - 1]) more += 1;
  return [from - more, to];
}

/** Maps ranges of the compacted text to ranges of the original text. */
function positionedIn(text: string, ranges: Range[]): Range[] {
  const positions: number[] = [];
  for (let at = 0; at < text.length;) {
    nextGap.lastIndex = at;
    if (nextGap.test(text)) at = nextGap.lastIndex;
    else {
      positions.push(at);
      at += 1;
    }
  }
  return ranges.map(([from, to]) => [positions[from] ?? 0, (positions[to - 1] ?? text.length - 1) + 1]);
}

function without(text: string, ranges: Range[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const [from, to] of ranges.toSorted(([left], [right]) => left - right)) {
    if (from >= done) parts.push(text.slice(done, from), mark);
    done = Math.max(done, to);
  }
  return parts.join('') + text.slice(done);
}
