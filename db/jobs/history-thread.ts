import { parentPort, workerData } from 'node:worker_threads';
import { historyAsJson } from './stored-history.ts';

// entry point of the thread for large histories
parentPort?.postMessage(await historyAsJson(workerData));
