import { parentPort, workerData } from 'node:worker_threads';
import { clusterQuestions, keyOfQuestion, type ReaderQuestion } from './cluster-questions.ts';

/** What the thread is given. */
export interface ClusterTask {
  asked: ReaderQuestion[];
  /** Until when a question counts as taken care of, by its key. */
  coveredUntil: Map<string, Date>;
  mostClusters: number;
  /** Of each cluster. */
  mostQuestions: number;
}

/** Clusters the questions that nobody has taken care of, in a thread of its own. */
const { asked, coveredUntil, mostClusters, mostQuestions }: ClusterTask = workerData;
const open = asked.filter(({ text, askedAt }) => askedAt > (coveredUntil.get(keyOfQuestion(text)) ?? new Date(0)));
const clusters = clusterQuestions(open).slice(0, mostClusters);
parentPort?.postMessage(clusters.map((one) => ({ ...one, questions: one.questions.slice(0, mostQuestions) })));
