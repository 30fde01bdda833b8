import { parentPort, workerData } from 'node:worker_threads';
import { runInline } from './file-work.ts';

/** Works on a large file in a separate thread, so that the worker's heartbeats continue. */
parentPort?.postMessage(runInline(workerData.work, workerData.task));
