import { parentPort, workerData } from 'node:worker_threads';
import { changeOfTrees, type PatchedTree } from './change-between.ts';

/** Compares two trees in a thread of its own. */
const { before, after }: { before: PatchedTree | null; after: PatchedTree | null } = workerData;
parentPort?.postMessage(changeOfTrees(before, after).patch);
