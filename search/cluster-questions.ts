import { createHash } from 'node:crypto';
import { fold, questionWords, termsOf } from './words.ts';

export interface AskedQuestion {
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

/**
 * Puts questions together that share most of their words, by these words alone: the same questions always give the same
 * clusters. Each question goes to the most similar older cluster, by the cluster's oldest question.
 */
export function clusterQuestions(asked: AskedQuestion[]): QuestionCluster[] {
  const clusters: { terms: Set<string>; questions: DistinctQuestion[] }[] = [];
  const clustersByTerm = new Map<string, number[]>();
  for (const question of distinct(asked)) {
    const terms = termsOfQuestion(question.text);
    const shared = new Map<number, number>();
    for (const term of terms)
      for (const position of clustersByTerm.get(term) ?? []) shared.set(position, (shared.get(position) ?? 0) + 1);
    let best = { position: -1, similarity: 0 };
    for (const [position, count] of shared) {
      const size = clusters[position]?.terms.size ?? 0;
      const similarity = (2 * count) / (size + terms.size);
      // of equals the older one
      if (similarity > best.similarity || (similarity === best.similarity && position < best.position))
        best = { position, similarity };
    }
    const near = best.similarity >= similarEnough ? clusters[best.position] : undefined;
    if (near !== undefined) {
      near.questions.push(question);
      continue;
    }
    for (const term of terms) clustersByTerm.set(term, [...(clustersByTerm.get(term) ?? []), clusters.length]);
    clusters.push({ terms, questions: [question] });
  }
  return clusters.map(({ questions }) => present(questions)).toSorted(byCount);
}

function present(questions: DistinctQuestion[]): QuestionCluster {
  const sorted = questions.toSorted((one, other) => other.count - one.count);
  return { id: idOf(questions[0]?.key ?? ''), label: sorted[0]?.text ?? '', questions: sorted };
}

function idOf(key: string): string {
  return `gap_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
}

/** Oldest first. */
function distinct(asked: AskedQuestion[]): DistinctQuestion[] {
  const known = new Map<string, DistinctQuestion>();
  const inOrder = asked.toSorted(
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
