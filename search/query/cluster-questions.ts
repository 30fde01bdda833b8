import { createHash } from 'node:crypto';
import { fold, questionWords, termsOf } from '../build/words.ts';

export interface ReaderQuestion {
  text: string;
  askedAt: Date;
  /** Whether the assistant found no answer in the documentation. */
  notFound: boolean;
  votedDown: boolean;
  /** The reader's remark about the answer; null if there is none. */
  remark: string | null;
}

/** A question, with all of its spellings. */
interface DistinctQuestion {
  /** The question without case, accents and punctuation. */
  key: string;
  /** The question in its first wording. */
  text: string;
  count: number;
  lastAskedAt: Date;
  /** Number of times that the documentation had no answer. */
  notFound: number;
  /** Number of answers that readers voted down. */
  votedDown: number;
  /** Readers' remarks about the answers, newest first. */
  remarks: string[];
}

/** Largest number of remarks that are kept of a question. */
export const maxRemarks = 3;

export interface QuestionCluster {
  /** Key of the oldest question, which stays when others join. */
  id: string;
  /** The most frequent question. */
  label: string;
  /** Most frequent first. */
  questions: DistinctQuestion[];
}

/** Smallest Dice coefficient of the terms of two questions in one cluster. */
const similarEnough = 0.6;

/** Returns a key that is equal for all spellings of a question. */
export function keyOfQuestion(text: string): string {
  return (fold(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ').slice(0, 500);
}

/** A long question is represented by its rarest terms. */
const maxTerms = 40;
/** Largest number of clusters that are looked up by the terms of a question, starting with its rarest. */
const maxComparisons = 2_000;
/** Number of the nearest clusters, found by some of the terms, that are then compared by all terms. */
const maxCompared = 20;

interface Cluster {
  terms: ReadonlySet<string>;
  questions: DistinctQuestion[];
}

/**
 * Groups questions that share most of their words. Deterministic: the same questions always give the same clusters.
 * Each question joins the most similar older cluster, compared with that cluster's oldest question. The work depends
 * only on the number of questions, whatever words they share.
 */
export function clusterQuestions(questions: ReaderQuestion[]): QuestionCluster[] {
  const clusters: Cluster[] = [];
  const clustersByTerm = new Map<string, number[]>();
  for (const { question, terms } of withTerms(distinct(questions))) {
    const near = nearest(terms, clusters, clustersByTerm);
    if (near !== undefined) {
      near.questions.push(question);
      continue;
    }
    for (const term of terms) {
      const positions = clustersByTerm.get(term);
      if (positions === undefined) clustersByTerm.set(term, [clusters.length]);
      else positions.push(clusters.length);
    }
    clusters.push({ terms: new Set(terms), questions: [question] });
  }
  return clusters.map(({ questions }) => present(questions)).toSorted(byCount);
}

/** Returns the most similar cluster, the older one if equal; undefined when none is similar enough. */
function nearest(
  terms: readonly string[],
  clusters: readonly Cluster[],
  clustersByTerm: ReadonlyMap<string, readonly number[]>,
): Cluster | undefined {
  const shared = new Map<number, number>();
  let left = maxComparisons;
  let isWhole = true;
  for (const term of terms) {
    const positions = clustersByTerm.get(term) ?? [];
    for (let at = 0; at < positions.length && at < left; at += 1) {
      const position = positions[at] ?? 0;
      shared.set(position, (shared.get(position) ?? 0) + 1);
    }
    isWhole &&= positions.length <= left;
    left = Math.max(0, left - positions.length);
  }
  const candidates = isWhole ? shared : countedAgain(shared, terms, clusters);
  let best: { cluster: Cluster | undefined; position: number; similarity: number } = {
    cluster: undefined,
    position: -1,
    similarity: similarEnough,
  };
  for (const [position, count] of candidates) {
    const cluster = clusters[position];
    const similarity = (2 * count) / ((cluster?.terms.size ?? 0) + terms.length);
    const isOlder = best.cluster === undefined || position < best.position;
    if (similarity > best.similarity || (similarity === best.similarity && isOlder))
      best = { cluster, position, similarity };
  }
  return best.cluster;
}

function countedAgain(
  shared: ReadonlyMap<number, number>,
  terms: readonly string[],
  clusters: readonly Cluster[],
): [position: number, count: number][] {
  return [...shared]
    .toSorted(([a, count], [b, otherCount]) => otherCount - count || a - b)
    .slice(0, maxCompared)
    .map(([position]) => [position, terms.filter((term) => clusters[position]?.terms.has(term)).length]);
}

/** Returns the terms of each question, the rarest first. */
function withTerms(questions: DistinctQuestion[]): { question: DistinctQuestion; terms: string[] }[] {
  const all = questions.map((question) => ({ question, terms: [...termsOfQuestion(question.text)] }));
  const counts = new Map<string, number>();
  for (const { terms } of all) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const countOf = (term: string) => counts.get(term) ?? 0;
  const byRarity = (a: string, b: string) => countOf(a) - countOf(b) || (a < b ? -1 : 1);
  return all.map(({ question, terms }) => ({ question, terms: terms.toSorted(byRarity).slice(0, maxTerms) }));
}

function present(questions: DistinctQuestion[]): QuestionCluster {
  const sorted = questions.toSorted((a, b) => b.count - a.count);
  return { id: clusterIdOf(questions[0]?.key ?? ''), label: sorted[0]?.text ?? '', questions: sorted };
}

/** Returns the id of the cluster whose oldest question has a key. */
export function clusterIdOf(key: string): string {
  return `gap_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
}

/** Sorts by age, oldest first. */
function distinct(questions: ReaderQuestion[]): DistinctQuestion[] {
  const known = new Map<string, DistinctQuestion>();
  const inOrder = questions.toSorted((a, b) => Number(a.askedAt) - Number(b.askedAt) || (a.text < b.text ? -1 : 1));
  for (const { text, askedAt, notFound, votedDown, remark } of inOrder) {
    const key = keyOfQuestion(text);
    if (key === '') continue;
    const earlier = known.get(key);
    known.set(key, {
      key,
      text: earlier?.text ?? text,
      count: (earlier?.count ?? 0) + 1,
      lastAskedAt: askedAt,
      notFound: (earlier?.notFound ?? 0) + Number(notFound),
      votedDown: (earlier?.votedDown ?? 0) + Number(votedDown),
      remarks: [...(remark === null ? [] : [remark]), ...(earlier?.remarks ?? [])].slice(0, maxRemarks),
    });
  }
  return [...known.values()];
}

/** Returns readers' remarks, newest first, by the key of their question. */
export function remarksByKey(questions: ReaderQuestion[]): Map<string, string[]> {
  return new Map(distinct(questions.filter(({ remark }) => remark !== null)).map(({ key, remarks }) => [key, remarks]));
}

/** Returns the significant words of a question; all of them if there are no others. */
function termsOfQuestion(text: string): Set<string> {
  const terms = termsOf(text);
  const significant = terms.filter((term) => !questionWords.has(term));
  return new Set(significant.length > 0 ? significant : terms.length > 0 ? terms : [keyOfQuestion(text)]);
}

function byCount(a: QuestionCluster, b: QuestionCluster): number {
  return countOf(b) - countOf(a) || (a.id < b.id ? -1 : 1);
}

function countOf({ questions }: QuestionCluster): number {
  return questions.reduce((sum, { count }) => sum + count, 0);
}
