import { createHash } from 'node:crypto';
import { fold, questionWords, termsOf } from '../build/words.ts';

export interface ReaderQuestion {
  text: string;
  askedAt: Date;
}

/** The same question, however it was written. */
export interface DistinctQuestion {
  /** Without case, accents and punctuation. */
  key: string;
  /** As it was written first. */
  text: string;
  count: number;
  lastAskedAt: Date;
}

export interface QuestionCluster {
  /** Of the oldest question: it stays when others join. */
  id: string;
  /** The question that was asked most. */
  label: string;
  /** The most asked first. */
  questions: DistinctQuestion[];
}

/** Dice's coefficient of the terms of two questions that belong together. */
const similarEnough = 0.6;

/** What is the same for every way of writing a question. */
export function keyOfQuestion(text: string): string {
  return (fold(text).match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).join(' ').slice(0, 500);
}

/** Of a long question the rarest terms say what it is about. */
const mostTerms = 40;
/** Older clusters that a question is compared with by a term, beginning at its rarest. */
const mostLooks = 2_000;
/** Of clusters that were not compared by all terms, the nearest are. */
const mostCompared = 20;

interface Cluster {
  terms: ReadonlySet<string>;
  questions: DistinctQuestion[];
}

/**
 * Puts questions together that share most of their words, by these words alone: the same questions always give the same
 * clusters. Each question goes to the most similar older cluster, by the cluster's oldest question. The work grows with the
 * number of questions alone, whatever words they share.
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

/** The most similar cluster, of equals the older one; undefined when none is similar enough. */
function nearest(
  terms: readonly string[],
  clusters: readonly Cluster[],
  clustersByTerm: ReadonlyMap<string, readonly number[]>,
): Cluster | undefined {
  const shared = new Map<number, number>();
  let left = mostLooks;
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
    .toSorted(([one, count], [other, otherCount]) => otherCount - count || one - other)
    .slice(0, mostCompared)
    .map(([position]) => [position, terms.filter((term) => clusters[position]?.terms.has(term)).length]);
}

/** The terms of each question, the rarest first. */
function withTerms(questions: DistinctQuestion[]): { question: DistinctQuestion; terms: string[] }[] {
  const all = questions.map((question) => ({ question, terms: [...termsOfQuestion(question.text)] }));
  const counts = new Map<string, number>();
  for (const { terms } of all) for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const countOf = (term: string) => counts.get(term) ?? 0;
  const byRarity = (one: string, other: string) => countOf(one) - countOf(other) || (one < other ? -1 : 1);
  return all.map(({ question, terms }) => ({ question, terms: terms.toSorted(byRarity).slice(0, mostTerms) }));
}

function present(questions: DistinctQuestion[]): QuestionCluster {
  const sorted = questions.toSorted((one, other) => other.count - one.count);
  return { id: idOf(questions[0]?.key ?? ''), label: sorted[0]?.text ?? '', questions: sorted };
}

function idOf(key: string): string {
  return `gap_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
}

/** Oldest first. */
function distinct(questions: ReaderQuestion[]): DistinctQuestion[] {
  const known = new Map<string, DistinctQuestion>();
  const inOrder = questions.toSorted(
    (one, other) => Number(one.askedAt) - Number(other.askedAt) || (one.text < other.text ? -1 : 1),
  );
  for (const { text, askedAt } of inOrder) {
    const key = keyOfQuestion(text);
    if (key === '') continue;
    const earlier = known.get(key);
    if (earlier === undefined) known.set(key, { key, text, count: 1, lastAskedAt: askedAt });
    else known.set(key, { ...earlier, count: earlier.count + 1, lastAskedAt: askedAt });
  }
  return [...known.values()];
}

/** Words that say what is asked; all of them where there are no others. */
function termsOfQuestion(text: string): Set<string> {
  const terms = termsOf(text);
  const telling = terms.filter((term) => !questionWords.has(term));
  return new Set(telling.length > 0 ? telling : terms.length > 0 ? terms : [keyOfQuestion(text)]);
}

function byCount(one: QuestionCluster, other: QuestionCluster): number {
  return countOf(other) - countOf(one) || (one.id < other.id ? -1 : 1);
}

function countOf({ questions }: QuestionCluster): number {
  return questions.reduce((sum, { count }) => sum + count, 0);
}
