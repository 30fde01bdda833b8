import { parentPort, workerData } from 'node:worker_threads';
import { clusterQuestions, keyOfQuestion, type ReaderQuestion } from './cluster-questions.ts';

/** Input of the thread. */
export interface ClusterTask {
  asked: ReaderQuestion[];
  /** Time until which a question counts as handled, by its key. */
  coveredUntil: Map<string, Date>;
  mostClusters: number;
  /** Largest number of questions of a cluster. */
  mostQuestions: number;
}

/** Clusters the unhandled questions, in a separate thread. */
const { asked, coveredUntil, mostClusters, mostQuestions }: ClusterTask = workerData;
const open = asked.filter(({ text, askedAt }) => askedAt > (coveredUntil.get(keyOfQuestion(text)) ?? new Date(0)));
const clusters = clusterQuestions(open).slice(0, mostClusters);
parentPort?.postMessage(clusters.map((one) => ({ ...one, questions: one.questions.slice(0, mostQuestions) })));
