import { parentPort, workerData } from 'node:worker_threads';
import { showFile } from './show-file.ts';

/** Reads a large file in a thread of its own, so that the worker's heartbeats go on. */
parentPort?.postMessage(showFile(workerData));
