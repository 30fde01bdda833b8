import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { buildIndex } from '../search/build-index.ts';
import { readPages } from '../search/read-pages.ts';

/** Reads pages and builds an index in a thread of its own, so that the worker's heartbeats go on. */

const inputSchema = z.object({
  files: z.array(z.object({ path: z.string(), text: z.string() })),
  file: z.string(),
  previousFile: z.string().optional(),
});

const { files, file, previousFile } = inputSchema.parse(workerData);
const pages = readPages(files.map(({ path, text }) => ({ path, read: () => text })));
parentPort?.postMessage(pages.length === 0 ? null : buildIndex(pages, { file, previousFile }));
