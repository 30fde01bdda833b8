import { parentPort, workerData } from 'node:worker_threads';
import {
  clusterIdOf,
  clusterQuestions,
  keyOfQuestion,
  remarksByKey,
  type QuestionCluster,
  type ReaderQuestion,
} from './cluster-questions.ts';
import { totalsOf, type QuestionTotals } from './question-totals.ts';

/** Input of the thread. */
export interface ClusterTask {
  asked: ReaderQuestion[];
  /** Time until which a question counts as handled, by its key. */
  coveredUntil: Map<string, Date>;
  /** Keys of questions, and ids of clusters, to leave out, with all questions that join them. */
  dismissed: { ids: string[]; keys: string[] };
  maxClusters: number;
  /** Largest number of questions of a cluster. */
  maxQuestions: number;
}

/** A cluster with the totals of all of its questions, including those beyond the limit. */
export type CountedCluster = QuestionCluster & QuestionTotals;

/** Output of the thread. */
export interface Clustered {
  clusters: CountedCluster[];
  /** Readers' remarks on all questions, by the key of the question. */
  remarks: Map<string, string[]>;
}

/** Clusters the unhandled questions, in a separate thread. */
const { asked, coveredUntil, dismissed, maxClusters, maxQuestions }: ClusterTask = workerData;
const open = asked.filter(({ text, askedAt }) => askedAt > (coveredUntil.get(keyOfQuestion(text)) ?? new Date(0)));
const dismissedKeys = new Set(dismissed.keys);
// a cluster is named after its oldest question; when that expires, the next one that was dismissed with it takes its
// place
const dismissedIds = new Set([...dismissed.ids, ...dismissed.keys.map(clusterIdOf)]);
const clusters = clusterQuestions(open).flatMap(({ id, questions: all }): CountedCluster[] => {
  const questions = dismissedIds.has(id) ? [] : all.filter(({ key }) => !dismissedKeys.has(key));
  const [first] = questions;
  if (first === undefined) return [];
  return [{ id, label: first.text, ...totalsOf(questions), questions: questions.slice(0, maxQuestions) }];
});
const clustered: Clustered = { clusters: clusters.slice(0, maxClusters), remarks: remarksByKey(asked) };
parentPort?.postMessage(clustered);
