import { base64Cores, maxPartLength } from './known-forms.ts';

/** Minimum length of a fragment. A line of a private key is longer in every encoding. */
const minFragmentLength = 40;
/** Half of a fragment, so that any fragment of a form contains at least one whole block of that form. */
const blockLength = minFragmentLength / 2;
/** Maximum number of forms per block. Forms of one secret share blocks; a more frequent block is not random text. */
const maxFormsPerBlock = 4;
const runs = new RegExp(`[A-Za-z0-9+/=_%-]{${minFragmentLength},}`, 'g');

/** A form of a secret, and the position of a block in it. */
interface Block {
  form: string;
  at: number;
}

/** A range: the start is inclusive, the end exclusive. */
type Range = [number, number];

/**
 * Creates a search for fragments of private keys and of other long secrets. A single line of one reveals too much, and
 * the search for truncated secrets finds only their beginnings and ends. The cost of a search does not grow with the
 * number of secrets.
 */
export function createFragmentSearch(secrets: readonly string[]): (text: string) => Range[] {
  const blocks = new Map<string, Block[]>();
  for (const form of secrets.filter(({ length }) => length > maxPartLength).flatMap(formsOfLong)) {
    for (let at = 0; at + blockLength <= form.length; at += blockLength) {
      const text = form.slice(at, at + blockLength);
      const others = blocks.get(text);
      if (others === undefined) blocks.set(text, [{ form, at }]);
      else if (others.length < maxFormsPerBlock) others.push({ form, at });
    }
  }
  if (blocks.size === 0) return () => [];

  return (text) => {
    const ranges: Range[] = [];
    for (const { 0: run, index } of text.matchAll(runs)) {
      for (let at = 0; at + blockLength <= run.length; at += 1) {
        // forms share fragments: each is tried, and the matches may overlap
        for (const block of blocks.get(run.slice(at, at + blockLength)) ?? []) {
          const [from, to] = grown(run, at, block);
          if (to - from >= minFragmentLength) ranges.push([index + from, index + to]);
        }
      }
    }
    return ranges;
  };
}

/** Returns the range around a block in which the text equals the form, within a limit: other blocks cover the rest. */
function grown(run: string, begin: number, { form, at }: Block): Range {
  const [most, room] = [
    Math.min(begin, at, minFragmentLength),
    Math.min(run.length - begin, form.length - at, 2 * minFragmentLength),
  ];
  let before = 0;
  while (before < most && run[begin - before - 1] === form[at - before - 1]) before += 1;
  let behind = blockLength;
  while (behind < room && run[begin + behind] === form[at + behind]) behind += 1;
  return [begin - before, begin + behind];
}

function formsOfLong(secret: string): string[] {
  const base64 = base64Cores(secret);
  return [
    secret,
    encodeURIComponent(secret),
    Array.from(secret).toReversed().join(''),
    Buffer.from(secret).toString('hex'),
    ...base64,
    ...base64.map((core) => core.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}
