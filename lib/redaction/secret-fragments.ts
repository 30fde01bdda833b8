import { base64Cores, longestPart } from './known-forms.ts';

/** A line of a private key, in whatever form, is longer. */
const shortestFragment = 40;
/** Half of a piece: wherever one is cut out of a form, it holds one block of that form whole. */
const blockLength = shortestFragment / 2;
/** Forms of one secret share blocks; a block that comes more often is no random text. */
const mostAlike = 4;
const runs = new RegExp(`[A-Za-z0-9+/=_%-]{${shortestFragment},}`, 'g');

/** A part of one of the forms that is looked for. */
interface Block {
  form: string;
  at: number;
}

/** From, up to and without. */
type Range = [number, number];

/**
 * Makes what finds pieces of private keys and of what else is as long: a line of one tells too much, and it is no beginning or end
 * that the whole could be known by. Its cost does not grow with the number of secrets.
 */
export function createFragmentSearch(secrets: readonly string[]): (text: string) => Range[] {
  const blocks = new Map<string, Block[]>();
  for (const form of secrets.filter(({ length }) => length > longestPart).flatMap(formsOfLong)) {
    for (let at = 0; at + blockLength <= form.length; at += blockLength) {
      const text = form.slice(at, at + blockLength);
      const others = blocks.get(text);
      if (others === undefined) blocks.set(text, [{ form, at }]);
      else if (others.length < mostAlike) others.push({ form, at });
    }
  }
  if (blocks.size === 0) return () => [];

  return (text) => {
    const ranges: Range[] = [];
    for (const { 0: run, index } of text.matchAll(runs)) {
      for (let at = 0; at + blockLength <= run.length; at += 1) {
        // forms have pieces in common: each of them is tried, and they may overlap
        for (const block of blocks.get(run.slice(at, at + blockLength)) ?? []) {
          const [from, to] = grown(run, at, block);
          if (to - from >= shortestFragment) ranges.push([index + from, index + to]);
        }
      }
    }
    return ranges;
  };
}

/** What the text and the form have in common around a block; further away is for other blocks to find. */
function grown(run: string, begin: number, { form, at }: Block): Range {
  const [most, room] = [
    Math.min(begin, at, shortestFragment),
    Math.min(run.length - begin, form.length - at, 2 * shortestFragment),
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
