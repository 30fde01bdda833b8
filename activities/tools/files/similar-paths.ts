import { showPath } from './agent-path.ts';
import { walkTree, type Walk } from './walk-tree.ts';

const maxNamed = 3;
/** Entries that are compared; more would take long for the sake of an error message. */
const maxCompared = 20_000;
/** A shorter beginning is shared by chance. */
const minBeginningLength = 3;

interface Likeness {
  path: string;
  /** The lower, the more alike. */
  score: number;
}

/** Returns the end of a sentence about a missing path: the paths that resemble it, or how to find others. */
export async function similarPaths(tree: Pick<Walk, 'root' | 'signal' | 'ignoredPaths'>, missing: string) {
  const found: Likeness[] = [];
  let left = maxCompared;
  await walkTree({
    ...tree,
    start: { parts: [], shown: '.' },
    async visit({ path, isIgnored }) {
      const score = isIgnored ? null : scoreOf(path, missing);
      if (score !== null) found.push({ path, score });
      left -= 1;
      return left > 0;
    },
  });
  const best = Math.min(...found.map(({ score }) => score));
  const named = found.filter(({ score }) => score === best).slice(0, maxNamed);
  if (named.length === 0) return 'Use list or glob to see which files exist.';
  return `Did you mean ${named.map(({ path }) => showPath(path)).join(' or ')}?`;
}

/** Returns how much the names of two paths differ, or else their folders; null for names that are not alike. */
function scoreOf(path: string, missing: string): number | null {
  const [own, wanted] = [partsOf(path), partsOf(missing)];
  const [name = '', other = ''] = [own.pop(), wanted.pop()];
  const rank = rankOf(name, other);
  if (rank === null) return null;
  const shared = wanted.filter((part) => own.includes(part)).length;
  return rank * 1_000 + (wanted.length - shared) * 10;
}

function partsOf(path: string): string[] {
  return path.toLowerCase().split('/');
}

function rankOf(name: string, other: string): number | null {
  if (name === other) return 0;
  const [stem, otherStem] = [stemOf(name), stemOf(other)];
  if (stem === otherStem) return 1;
  const shorter = stem.length < otherStem.length ? stem : otherStem;
  const isBeginning = shorter.length >= minBeginningLength && stem.startsWith(shorter) && otherStem.startsWith(shorter);
  return isBeginning ? 2 : null;
}

/** Returns a name without its endings and without what spellings differ in. */
function stemOf(name: string): string {
  return name.replace(/(?<=.)\..*$/s, '').replaceAll(/[-_ ]/g, '');
}
