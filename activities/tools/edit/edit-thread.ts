import { parentPort, workerData } from 'node:worker_threads';
import { editFile } from './edit-file.ts';

/** Edits a large file in a thread of its own, so that the worker's heartbeats go on. */
parentPort?.postMessage(editFile(workerData));
