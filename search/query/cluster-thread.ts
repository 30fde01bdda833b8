import { parentPort, workerData } from 'node:worker_threads';
import { clusterIdOf, clusterQuestions, keyOfQuestion, type ReaderQuestion } from './cluster-questions.ts';

/** Input of the thread. */
export interface ClusterTask {
  asked: ReaderQuestion[];
  /** Time until which a question counts as handled, by its key. */
  coveredUntil: Map<string, Date>;
  /** Clusters and keys of questions that are left out, with the questions that join them. */
  dismissed: { ids: string[]; keys: string[] };
  mostClusters: number;
  /** Largest number of questions of a cluster. */
  mostQuestions: number;
}

/** Clusters the unhandled questions, in a separate thread. */
const { asked, coveredUntil, dismissed, mostClusters, mostQuestions }: ClusterTask = workerData;
const open = asked.filter(({ text, askedAt }) => askedAt > (coveredUntil.get(keyOfQuestion(text)) ?? new Date(0)));
const dismissedKeys = new Set(dismissed.keys);
// a cluster is named by its oldest question, which expires: then by the next one of those that were dismissed with it
const dismissedIds = new Set([...dismissed.ids, ...dismissed.keys.map(clusterIdOf)]);
const clusters = clusterQuestions(open).flatMap(({ id, questions: all }) => {
  const questions = dismissedIds.has(id) ? [] : all.filter(({ key }) => !dismissedKeys.has(key));
  const [first] = questions;
  return first === undefined ? [] : [{ id, label: first.text, questions: questions.slice(0, mostQuestions) }];
});
parentPort?.postMessage(clusters.slice(0, mostClusters));
