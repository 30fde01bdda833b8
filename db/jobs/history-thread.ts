import { parentPort, workerData } from 'node:worker_threads';
import { historyAsJson } from './stored-history.ts';

// the thread of a history that is large
parentPort?.postMessage(await historyAsJson(workerData));
