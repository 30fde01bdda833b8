import { parentPort, workerData } from 'node:worker_threads';
import { buildIndex } from '../search/build-index.ts';
import { readPages } from '../search/read-pages.ts';
import type { IndexBuildData } from './index-build.ts';

/** Reads pages and builds an index in a thread of its own, so that the worker's heartbeats go on. */

const { files, file, previousFile }: IndexBuildData = workerData;
const decoder = new TextDecoder();
const pages = readPages(files.map(({ path, content }) => ({ path, read: () => decoder.decode(content) })));
parentPort?.postMessage(pages.length === 0 ? null : buildIndex(pages, { file, previousFile }));
