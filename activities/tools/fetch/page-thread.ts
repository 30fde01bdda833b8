import { parentPort, workerData } from 'node:worker_threads';
import { pageText } from './page-text.ts';

/** Reads a web page in a separate thread, which can be ended when it takes too long. */
parentPort?.postMessage(pageText(workerData));
